#!/bin/sh
# A client with nothing but curl and plain JSON: signs in, creates a site, changes it with a stale
# revision, pages a list of 500, reads errors, refreshes and signs out.
# Usage: plain-json.sh BASE_URL CA_FILE PASSWORD_FILE
set -eu
base=$1 ca=$2 password_file=$3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
umask 077

fail() {
  echo "FAILED: $1" >&2
  cat "$work/answer" >&2
  exit 1
}

# call RPC JSON: the answer goes to a file, the status to $status.
call() {
  status=$(curl --silent --show-error --cacert "$ca" --cookie "$work/cookies" \
    --cookie-jar "$work/cookies" --header @"$work/headers" --data "$2" \
    --output "$work/answer" --write-out '%{http_code}' "$base/waf.v1.$1")
}
# text FIELD: the first text value of that field in the answer.
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/answer" | head -n 1; }
expect() { [ "$status $(text code)" = "$1" ] || fail "$2: expected $1, got $status $(text code)"; }

printf 'Content-Type: application/json\nConnect-Protocol-Version: 1\n' >"$work/headers"
call SiteService/ListSites '{}'
expect '401 unauthenticated' 'without a token'
call AuthService/Login "{\"username\":\"admin\",\"password\":\"$(cat "$password_file")\"}"
expect '200 ' 'signing in'
printf 'Authorization: Bearer %s\n' "$(text accessToken)" >>"$work/headers"

site='"name":"plain","primaryHost":"plain.test","upstreams":[{"inline":{"url":"http://127.0.0.1:9"}}]'
call SiteService/CreateSite "{\"site\":{$site}}"
expect '200 ' 'creating a site'
id=$(text id) revision=$(text revision)
[ -n "$id" ] && [ "$revision" = 1 ] || fail 'the site has an id and the revision 1'
call SiteService/CreateSite "{\"site\":{$site}}"
expect '409 already_exists' 'a second site of that name'

change="\"site\":{\"id\":\"$id\",\"name\":\"renamed\"},\"updateMask\":\"name\""
call SiteService/UpdateSite "{$change,\"revision\":\"9\"}"
expect '409 aborted' 'a stale revision'
call SiteService/GetSite "{\"id\":\"$id\"}"
call SiteService/UpdateSite "{$change,\"revision\":\"$(text revision)\"}"
expect '200 ' 'the revision that was read'
call SiteService/UpdateSite "{$change,\"revision\":\"$revision\",\"color\":1}"
expect '400 invalid_argument' 'an unknown field'
case $(text message) in color:*) ;; *) fail 'the message names the field' ;; esac

n=0
while [ "$n" -lt 500 ]; do
  n=$((n + 1))
  printf 'url = "%s"\nheader = "@%s"\ncacert = "%s"\nsilent\noutput = "/dev/null"\nfail\n' \
    "$base/waf.v1.RoleService/CreateRole" "$work/headers" "$ca"
  printf 'data = "{\\"role\\":{\\"name\\":\\"plain %s\\",\\"permissions\\":[\\"site:read\\"]}}"\nnext\n' \
    "$n"
done | sed '$d' >"$work/create"
curl --config "$work/create" || fail 'creating 500 roles'
page=0 found=0 total=1
while [ "$found" -lt "$total" ]; do
  page=$((page + 1))
  call RoleService/ListRoles "{\"query\":\"plain \",\"page\":{\"page\":$page,\"pageSize\":200}}"
  expect '200 ' "page $page"
  total=$(text total)
  found=$((found + $(grep -o '"name":"plain ' "$work/answer" | wc -l)))
  [ "$page" -le 3 ] || fail 'three pages hold them all'
done
[ "$found" = 500 ] && [ "$page" = 3 ] || fail "500 on 3 pages; found $found on $page"

call AuthService/Refresh '{}'
expect '200 ' 'a refresh by cookie'
call AuthService/Logout '{}'
expect '200 ' 'signing out'
call SiteService/ListSites '{}'
expect '401 unauthenticated' 'after signing out'
echo "plain JSON: site $id, stale revision refused, $found roles on $page pages, errors read"

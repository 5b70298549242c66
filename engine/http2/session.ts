/** The only door to HTTP/2 sessions of the addon. */
export { HTTP2_CODE, HTTP2_EVENT, HTTP2_HEAD, Http2Session } from '../../native-bindings/index.ts';

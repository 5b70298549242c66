<?php
// Reports what PHP made of one request: names, values and file names, each in base64.

$names = [];
$values = [];
$fileNames = [];

function collect(mixed $node): void {
    global $names, $values;
    if (!is_array($node)) {
        if (is_string($node)) $values[] = base64_encode($node);
        return;
    }
    foreach ($node as $key => $value) {
        $names[] = base64_encode((string) $key);
        collect($value);
    }
}

function collectFiles(mixed $node): void {
    global $names, $fileNames;
    if (!is_array($node)) {
        $fileNames[] = base64_encode((string) $node);
        return;
    }
    foreach ($node as $key => $value) {
        $names[] = base64_encode((string) $key);
        collectFiles($value);
    }
}

function collectXml(DOMNode $node): void {
    global $values;
    if ($node instanceof DOMElement) {
        foreach ($node->attributes as $attribute) $values[] = base64_encode($attribute->value);
    }
    foreach ($node->childNodes ?? [] as $child) {
        if ($child instanceof DOMElement) collectXml($child);
        elseif ($child instanceof DOMText) $values[] = base64_encode($child->data);
    }
}

$type = $_SERVER['CONTENT_TYPE'] ?? '';
if (str_contains($type, 'json')) {
    $body = json_decode(file_get_contents('php://input'), true);
    collect(is_array($body) ? $body : [$body]);
} elseif (str_contains($type, 'xml')) {
    $document = new DOMDocument();
    libxml_use_internal_errors(true);
    if (@$document->loadXML(file_get_contents('php://input'), LIBXML_NONET)) {
        collectXml($document->documentElement);
    }
}
collect($_POST);
collect($_GET);
collect($_COOKIE);
foreach ($_FILES as $key => $file) {
    $names[] = base64_encode((string) $key);
    collectFiles($file['name']);
}
header('Content-Type: application/json');
$answer = json_encode(compact('names', 'values', 'fileNames'));
header('Content-Length: ' . strlen($answer));
echo $answer;

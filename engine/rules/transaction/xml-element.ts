/** The tree of an XML body as selectors read it. Plain data; it holds no behavior. */

/** One attribute; the value is decoded. */
export interface XmlAttribute {
  readonly name: string;
  readonly value: string;
}

/** Text is decoded; names are as written. Prefixes are resolved only when a selector asks. */
export interface XmlElement {
  readonly name: string;
  /** Without namespace declarations. */
  readonly attributes: readonly XmlAttribute[];
  /** Attributes that declare namespaces: `xmlns` and `xmlns:...`. */
  readonly declarations: readonly XmlAttribute[];
  readonly children: (XmlElement | string)[];
  readonly parent: XmlElement | null;
}

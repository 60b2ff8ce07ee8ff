/// HTML that the server has written, with every untrusted text in it escaped.
///
/// It is the only value that a template prints unescaped, with three braces, and only this module can create
/// it.
package struct SafeHTML: Sendable, Hashable, CustomStringConvertible {
    /// The HTML.
    package let description: String

    init(unsafeTrusting html: [UInt8]) {
        description = String(decoding: html, as: UTF8.self)
    }
}

/// HTML by ``ContentFormats``, with every untrusted text in it escaped.
///
/// Templates print only values of this type unescaped (with three braces), and only this module can create one.
package struct SafeHTML: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(unsafeTrusting html: [UInt8]) {
        description = String(decoding: html, as: UTF8.self)
    }
}

/// A secret text, which is redacted when printed and compared in constant time.
///
/// The text can be read only through ``exposed``. Searching the code for this name therefore finds every use of
/// a secret.
public protocol Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret in plain text.
    ///
    /// Never log it, and never include it in an error, a command-line argument or the URL of a page.
    var exposed: String { get }
}

extension Secret {
    /// The name of the type and the word "redacted".
    public var description: String { "<\(Self.self) redacted>" }
    /// The name of the type and the word "redacted".
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` does not print the text.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Compares two secrets in constant time.
    public static func == (left: Self, right: Self) -> Bool { ConstantTime.equals(left.exposed, right.exposed) }
}

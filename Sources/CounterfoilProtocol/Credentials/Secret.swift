/// A secret text, which prints as redacted and compares in constant time.
///
/// ``exposed`` is the only way to read the text, so that uses of the secret can be found by searching for it.
public protocol Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself.
    ///
    /// Never log it or include it in an error, a command-line argument or the URL of a page.
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

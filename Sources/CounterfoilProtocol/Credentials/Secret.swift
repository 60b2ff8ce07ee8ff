/// A text that must never be seen: it prints as redacted and compares in constant time.
///
/// ``exposed`` is the one way to the text; a reader can search for it.
public protocol Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself. Never log it, never put it into an error, an argument or a URL of a page.
    var exposed: String { get }
}

extension Secret {
    /// The name of the type and the word redacted.
    public var description: String { "<\(Self.self) redacted>" }
    /// The name of the type and the word redacted.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` does not either.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Compares in constant time.
    public static func == (left: Self, right: Self) -> Bool { ConstantTime.equals(left.exposed, right.exposed) }
}

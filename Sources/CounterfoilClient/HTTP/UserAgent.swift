/// The value of `User-Agent`, which names the program to servers (RFC 9110 §10.1.5).
///
/// Some servers refuse requests without it, among them the API of GitHub.
public struct UserAgent: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a text cannot be the value of `User-Agent`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is empty, longer than 256 bytes, or contains other characters than printable ASCII.
        case malformed

        /// A description of the problem, safe to show to users.
        public var description: String { "a User-Agent consists of at most 256 printable ASCII characters" }
    }

    /// The header field value, such as `Lightbox/2.1 Counterfoil/0.1.0`.
    public let rawValue: String

    /// The version of this library.
    package static let version = "0.1.0"

    /// The default, which names only this library: `Counterfoil/VERSION`.
    public static let library = UserAgent(verbatim: "Counterfoil/\(version)")

    /// Creates a value that names an application, such as `Lightbox/2.1`, and then this library.
    public init(_ application: String) throws(Refusal) {
        let bytes = application.utf8
        guard (1...256).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }),
            bytes.first != 0x20, bytes.last != 0x20
        else { throw .malformed }
        self.init(verbatim: "\(application) \(Self.library)")
    }

    private init(verbatim text: String) { rawValue = text }

    /// The header field value.
    public var description: String { rawValue }
}

/// An attestation object (WebAuthn §6.5): the authenticator data of a registration, and a statement about them.
struct AttestationObject: Sendable, Hashable {
    /// The reason why bytes are not an attestation object.
    enum Fault: Error, Sendable, Hashable {
        case cbor(CBORFault)
        /// `fmt`, `attStmt` or `authData` is missing or has another type.
        case member(String)
    }

    /// The depth that a `compound` statement with certificates needs (WebAuthn §8.9).
    ///
    /// The browser writes the object, so the limit of the messages of authenticators does not bind it.
    private static let depthLimit = 5

    /// The format of the statement (`fmt`).
    let format: AttestationFormat
    /// The statement (`attStmt`), in the form of its format.
    let statement: CBORValue
    /// The authenticator data (`authData`) as they were signed.
    let authenticatorData: [UInt8]

    /// Parses an attestation object, and ignores members that are not known.
    init(parsing bytes: [UInt8]) throws(Fault) {
        let value: CBORValue
        do { value = try CBORReader.value(of: bytes, depthLimit: Self.depthLimit) } catch { throw .cbor(error) }
        guard let members = value.members, let format = members[.key("fmt")]?.text.flatMap(AttestationFormat.init)
        else { throw .member("fmt") }
        guard let statement = members[.key("attStmt")] else { throw .member("attStmt") }
        guard let data = members[.key("authData")]?.bytes else { throw .member("authData") }
        self.format = format
        self.statement = statement
        authenticatorData = data
    }
}

/// The name of a format of attestation statements (WebAuthn §8.1).
package struct AttestationFormat: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    /// Creates a name; returns nil if it is not 1 to 32 visible ASCII characters without `"` and `\`.
    package init?(rawValue: String) {
        guard (1...32).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        self.rawValue = rawValue
    }
}

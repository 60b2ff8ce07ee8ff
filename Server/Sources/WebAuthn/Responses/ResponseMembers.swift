import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The members of a response of `navigator.credentials`, as `PublicKeyCredential.toJSON()` writes it (WebAuthn §5.1).
///
/// Members that are not read here, such as the outputs of extensions, are ignored.
struct ResponseMembers {
    /// The maximum length of a response in bytes.
    static let byteLimit = 64 * 1024

    /// The identifier of the credential (`rawId`).
    let credentialID: CredentialID
    private let members: [String: JSONValue]

    /// Parses a response.
    init(json: [UInt8]) throws(CeremonyRefusal.Reason) {
        guard json.count <= Self.byteLimit, let outer = try? JSONReader.object(json) else { throw .response("JSON") }
        guard outer["type"]?.text == "public-key" else { throw .response("type") }
        guard let text = outer["rawId"]?.text, let id = Base64URL.decode(text).flatMap(CredentialID.init) else {
            throw .response("rawId")
        }
        // By bytes, because texts in Swift are equal by their characters.
        guard let name = outer["id"]?.text, name.utf8.elementsEqual(text.utf8) else { throw .response("id") }
        guard case .object(let members) = outer["response"] else { throw .response("response") }
        credentialID = id
        self.members = members
    }

    /// Decodes a required member in base64url that has 1 to `limit` bytes.
    func bytes(_ name: String, limit: Int) throws(CeremonyRefusal.Reason) -> [UInt8] {
        guard let bytes = try optionalBytes(name, limit: limit), !bytes.isEmpty else { throw .response(name) }
        return bytes
    }

    /// Decodes a member in base64url that has up to `limit` bytes; nil if it is missing or null.
    func optionalBytes(_ name: String, limit: Int) throws(CeremonyRefusal.Reason) -> [UInt8]? {
        switch members[name] {
        case nil, .null: return nil
        case .string(let text):
            // Four characters stand for three bytes.
            guard text.utf8.count <= (limit * 4 + 2) / 3, let bytes = Base64URL.decode(text) else {
                throw .response(name)
            }
            return bytes
        default: throw .response(name)
        }
    }

    /// Returns the texts of a list of at most 16; an empty list if the member is missing.
    func texts(_ name: String) throws(CeremonyRefusal.Reason) -> [String] {
        switch members[name] {
        case nil: return []
        case .array(let values):
            let texts = values.compactMap(\.text)
            guard texts.count == values.count, texts.count <= 16 else { throw .response(name) }
            return texts
        default: throw .response(name)
        }
    }

    /// The maximum length of `clientDataJSON` in bytes.
    static let clientDataLimit = 8 * 1024
}

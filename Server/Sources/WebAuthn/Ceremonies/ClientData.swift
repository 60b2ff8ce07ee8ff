import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto

/// The statements of the browser about a ceremony (`clientDataJSON`, WebAuthn §5.8.1).
struct ClientData: Sendable, Hashable {
    let type: String
    let challenge: String
    let origin: String
    /// True if the frame has another origin than a page around it.
    let isCrossOrigin: Bool
    /// The origin of the page at the top, in such a frame.
    let topOrigin: String?

    /// Parses client data; returns nil if they are not JSON with the required members.
    ///
    /// Duplicate members are refused, because another parser could use the other one.
    init?(parsing bytes: [UInt8]) {
        // The UTF-8 decoding of WebAuthn §7.1 step 5 and §7.2 step 8 removes a byte order mark.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        guard let members = try? JSONReader.object(text), let type = members["type"]?.text,
            let challenge = members["challenge"]?.text, let origin = members["origin"]?.text
        else { return nil }
        switch members["crossOrigin"] {
        case nil: isCrossOrigin = false
        case .boolean(let value): isCrossOrigin = value
        default: return nil
        }
        switch members["topOrigin"] {
        case nil: topOrigin = nil
        case .string(let value): topOrigin = value
        default: return nil
        }
        self.type = type
        self.challenge = challenge
        self.origin = origin
    }

    /// Parses and verifies client data: WebAuthn §7.1 steps 6 to 11, §7.2 steps 9 to 14.
    static func check(
        _ bytes: [UInt8], type: String, challenge: Challenge, for relyingParty: RelyingParty
    ) throws(CeremonyRefusal.Reason) {
        guard let data = ClientData(parsing: bytes) else { throw .clientData }
        guard data.type == type else { throw .type }
        guard challenge.isAnswered(by: data.challenge) else { throw .challenge }
        guard RelyingParty.contains(relyingParty.origins, data.origin) else { throw .origin }
        guard !data.isCrossOrigin else { throw .crossOrigin }
        guard data.topOrigin == nil else { throw .topOrigin }
    }
}

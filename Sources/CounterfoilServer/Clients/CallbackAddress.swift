import CounterfoilProtocol

/// The one address of this server that an application may have as its redirect URI: a page that does nothing.
///
/// A native application without a website claims it, so that its platform opens the application instead of the page
/// (RFC 8252 §7.2).
struct CallbackAddress: Sendable, Hashable {
    /// The address, which is compared byte by byte.
    let rawValue: String

    /// The address of an application; nil where it can have none.
    init?(of client: ClientIdentifier, type: ClientType, issuer: Issuer) {
        // A character with a meaning in URIs would make the path that of another application.
        guard type == .native, issuer.isSecure, client.rawValue.utf8.allSatisfy(Self.isPlain) else { return nil }
        rawValue = issuer.endpoint(Endpoint.callback.path(of: client))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

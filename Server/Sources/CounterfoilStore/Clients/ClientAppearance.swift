import CounterfoilProtocol
import CounterfoilTokens
import Crypto

/// A digest of the properties by which users recognize a client; when one of them changes, users must consent again.
public struct ClientAppearance: Sendable, Hashable {
    /// The SHA-256 digest, 32 bytes.
    public let bytes: [UInt8]

    /// Restores a stored digest; nil if it does not have 32 bytes.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Computes the digest from the presentation, the type and the redirect URIs of a client; the order of the URIs
    /// does not matter.
    ///
    /// The digest of an unregistered client also covers the URL of its logo and its keys
    /// (draft-ietf-oauth-client-id-metadata-document §6.3). If the keys have a URL, the client may replace them there.
    public init(of client: RegisteredClient) {
        let presentation = client.presentation
        let parts =
            [
                client.type.rawValue, presentation.name, presentation.publisher ?? "", presentation.consentText ?? "",
                presentation.privacyURI?.rawValue ?? "", presentation.termsURI?.rawValue ?? "",
                presentation.logo?.rawValue ?? "",
            ] + client.redirectURIs.map(\.rawValue).sorted() + Self.ownMetadata(of: client)
        var hash = SHA256()
        for part in parts {
            let bytes = Array(part.utf8)
            // Each part is hashed with its length, so that text that moves from one part to the next changes the
            // digest.
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: bytes)
        }
        bytes = Array(hash.finalize())
    }

    private static func ownMetadata(of client: RegisteredClient) -> [String] {
        guard client.isUnregistered else { return [] }
        let keys = client.keysURI?.rawValue ?? client.keys.map { String(decoding: $0.encoded(), as: UTF8.self) }
        return ["logo_uri", client.logoURI?.rawValue ?? "", "keys", keys ?? ""]
    }
}

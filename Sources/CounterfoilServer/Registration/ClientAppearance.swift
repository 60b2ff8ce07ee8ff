import CounterfoilProtocol
import Crypto

/// A digest of everything by which a user judges a client; when any of it changes, an earlier consent is void.
public struct ClientAppearance: Sendable, Hashable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Restores a stored digest; nil if its length is wrong.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Computes the digest of a client from its presentation, its type and its redirect URIs.
    public init(of client: RegisteredClient) {
        let presentation = client.presentation
        let parts =
            [
                client.type.rawValue, presentation.name, presentation.publisher ?? "", presentation.consentText ?? "",
                presentation.privacyURI?.rawValue ?? "", presentation.termsURI?.rawValue ?? "",
                presentation.logo?.rawValue ?? "",
            ] + client.redirectURIs.map(\.rawValue).sorted()
        var hash = SHA256()
        for part in parts {
            let bytes = Array(part.utf8)
            // The length comes first, so that no part can run into the next.
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: bytes)
        }
        bytes = Array(hash.finalize())
    }
}

import CounterfoilClient
import CounterfoilProtocol
import HTTPTypes

/// The challenge and the metadata of an API (RFC 9728 §2 and §5.1).
///
/// The first line of the input is the challenge, and the rest is the metadata.
enum ResourceMetadataTarget {
    private static let address = "https://photos.example.com/"

    static func examine(_ bytes: [UInt8]) {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let challenge = String(decoding: bytes[..<end], as: UTF8.self)
        let api = API(challenge: HTTPField.isValidValue(challenge) ? challenge : nil, metadata: Array(bytes[end...]))
        let first = found(at: api)
        require(found(at: api) == first, "the same metadata read differently")
        switch first {
        case .success(let resource):
            require(resource.resource.rawValue + "/" == address || resource.resource.rawValue == address, "another API")
            require(!resource.authorizationServers.isEmpty, "no server")
            for issuer in resource.authorizationServers.prefix(1) {
                require(!issuer.isLoopback && issuer.rawValue.hasPrefix("https://"), "\(issuer) is taken")
            }
            require(isSafeToShow(resource.scope?.description ?? ""), "a scope that cannot be shown")
        case .failure(let error):
            require(isSafeToShow(error.description), "an error that cannot be shown: \(error.description)")
        }
    }

    private static func found(at api: API) -> Result<ResourceDiscovery.ProtectedResource, SignInError> {
        waiting {
            do throws(SignInError) {
                return .success(try await ResourceDiscovery(transport: api).metadata(of: address))
            } catch { return .failure(error) }
        }
    }

    /// An API that answers its own URL with a challenge and any other URL with its metadata.
    private struct API: HTTPTransport {
        let challenge: String?
        let metadata: [UInt8]

        func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            guard request.endpoint.rawValue == ResourceMetadataTarget.address else {
                return TransportResponse(head: HTTPResponse(status: .ok), body: metadata)
            }
            var head = HTTPResponse(status: .unauthorized)
            if let challenge { head.headerFields[.wwwAuthenticate] = challenge }
            return TransportResponse(head: head, body: [])
        }
    }
}

import CounterfoilClient
import CounterfoilTesting

/// A transport that leads from the public origins of vendors to the servers that play them on this device.
struct LeadingTransport: HTTPTransport {
    /// Where a request really goes, by the origin that it names.
    let addresses: [String: String]

    /// Leads to servers that go by public origins.
    init(to servers: ScriptedAuthorizationServer...) {
        addresses = Dictionary(uniqueKeysWithValues: servers.map { ($0.origin, $0.address) })
    }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let origin = request.endpoint.origin
        guard let address = addresses[origin] else {
            guard request.endpoint.isLoopback else {
                throw .unreachable(origin: origin, reason: "no test leads there")
            }
            return try await AsyncHTTPClientTransport().send(request)
        }
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address + request.endpoint.rawValue.dropFirst(origin.count)) } catch {
            throw .unreachable(origin: origin, reason: "\(error)")
        }
        return try await AsyncHTTPClientTransport().send(
            TransportRequest(
                endpoint, method: request.method, headerFields: request.headerFields, body: request.body,
                byteLimit: request.byteLimit, timeout: request.timeout))
    }
}

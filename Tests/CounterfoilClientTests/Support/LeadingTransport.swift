import CounterfoilClient
import CounterfoilClientTesting

/// A transport that maps the public origins of vendors to the scripted servers on this device.
struct LeadingTransport: HTTPTransport {
    /// The origin of the scripted server, by the public origin of a request.
    let addresses: [String: String]

    /// Creates a transport for scripted servers with public origins.
    init(to servers: ScriptedAuthorizationServer...) {
        addresses = Dictionary(uniqueKeysWithValues: servers.map { ($0.origin, $0.address) })
    }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let origin = request.endpoint.origin
        guard let address = addresses[origin] else {
            guard request.endpoint.isLoopback else {
                throw .unreachable(origin: origin, reason: "no test leads there")
            }
            return try await StandardTransport().send(request)
        }
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address + request.endpoint.rawValue.dropFirst(origin.count)) } catch {
            throw .unreachable(origin: origin, reason: "\(error)")
        }
        var led = TransportRequest(
            endpoint, method: request.method, headerFields: request.headerFields, body: request.body,
            byteLimit: request.byteLimit, timeout: request.timeout)
        led.readsBody = request.readsBody
        return try await StandardTransport().send(led)
    }
}

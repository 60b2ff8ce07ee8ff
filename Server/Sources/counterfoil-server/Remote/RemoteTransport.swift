import AsyncHTTPClient
import CounterfoilProtocol
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL

/// The administration API of a server, over HTTPS and with an access token.
struct RemoteTransport: AdministrationTransport {
    /// The maximum size of an answer in bytes.
    private static let answerLimit = 8 * 1024 * 1024
    /// The number of times that a request is sent, if the server limits requests or a connection is lost.
    private static let attempts = 4
    /// The longest wait in seconds that the server can ask for.
    private static let longestWait = 60

    private let client: HTTPClient
    private let api: String
    private let token: AccessToken

    /// Runs `body` with a connection to a server.
    static func with<Result>(
        _ issuer: Issuer, token: AccessToken, _ body: (RemoteTransport) async throws -> Result
    ) async throws -> Result {
        // A redirect would take the token to another host.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        configuration.timeout = .init(connect: .seconds(10), read: .seconds(30))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let transport = RemoteTransport(client: client, api: issuer.administrationAPI, token: token)
            try await transport.check(issuer.administrationAPIMetadata)
            let result = try await body(transport)
            try? await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Checks that the server has the API, and that the API accepts the token of the command, which is not sent here.
    ///
    /// A server without the API answers as if no record existed.
    private func check(_ metadata: String) async throws {
        let answer: AdministrationResponse
        do { answer = try await self.answer(to: HTTPClientRequest(url: metadata)) } catch let error as HTTPClientError {
            throw CommandFailure.temporary("no answer from \(metadata): \(error.shortDescription)")
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure.temporary("no answer from \(metadata): \(error)") }
        guard answer.status != .notFound else {
            throw CommandFailure.refused(
                "there is no administration API at \(api); start the server with --administration-api, and give its "
                    + "issuer to --remote")
        }
        let members = try AdministrationRecord(try answer.successful("GET \(metadata)")).members
        // RFC 9728 §3.3
        guard members["resource"]?.text == api else {
            throw CommandFailure.refused("the metadata \(metadata) are not those of \(api)")
        }
        guard members["dpop_bound_access_tokens_required"] != .boolean(true) else {
            throw CommandFailure.refused(
                "\(api) accepts only tokens that are bound to a key (DPoP), which this command cannot use; apply the "
                    + "file on the machine of the server")
        }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields, body: [UInt8]
    ) async throws -> AdministrationResponse {
        var request = HTTPClientRequest(url: api + path)
        request.method = NIOHTTP1.HTTPMethod(rawValue: method.rawValue)
        request.headers.add(name: "Authorization", value: "Bearer \(token.exposed)")
        for field in fields { request.headers.add(name: field.name.rawName, value: field.value) }
        if method != .get || !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        // A creation has a key, so it creates nothing a second time.
        let isRepeatable = method == .get || request.headers.contains(name: "Idempotency-Key")
        for attempt in 1... {
            do {
                let answer = try await answer(to: request)
                guard answer.status == .tooManyRequests, attempt < Self.attempts,
                    let wait = answer.fields[.retryAfter].flatMap(Int.init), (0...Self.longestWait).contains(wait)
                else { return answer }
                try await Task.sleep(for: .seconds(max(1, wait)))
            } catch let failure as CommandFailure {
                throw failure
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                guard isRepeatable, attempt < Self.attempts else {
                    let reason = (error as? HTTPClientError)?.shortDescription ?? "\(error)"
                    throw CommandFailure.temporary(
                        "no answer from \(api): \(reason)"
                            + (method == .get ? "" : "; it is not known whether the change was made"))
                }
                try await Task.sleep(for: .seconds(1))
            }
        }
        throw CommandFailure.temporary("no answer from \(api)")
    }

    private func answer(to request: HTTPClientRequest) async throws -> AdministrationResponse {
        let response = try await client.execute(request, timeout: .seconds(60))
        var fields: HTTPFields = [:]
        for (name, value) in response.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let body: ByteBuffer
        do { body = try await response.body.collect(upTo: Self.answerLimit) } catch is NIOTooManyBytesError {
            throw CommandFailure.refused("the answer of \(api) is larger than \(Self.answerLimit) bytes")
        }
        return AdministrationResponse(
            status: .init(code: Int(response.status.code)), fields: fields, body: Array(body.readableBytesView))
    }
}

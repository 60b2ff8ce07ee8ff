import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A transport that uses AsyncHTTPClient, for all platforms except Apple's.
///
/// The transport trusts the certificate authorities of the system. If the environment variable `SSL_CERT_FILE` names a
/// file, the transport trusts the authorities in that file instead, as OpenSSL does.
public struct AsyncHTTPClientTransport: HTTPTransport {
    /// The HTTP client with the connection pool that all transports of the process share.
    ///
    /// The client lives as long as the process, so callers do not have to shut it down.
    private static let client: HTTPClient = {
        // RFC 9700 §4.12: a redirect could send a code or token to another host.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(10)
        // Report a refused connection immediately. By default, AsyncHTTPClient retries it until the timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .automatic
        if let authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authorities)
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }()

    /// The file with the certificate authorities that replace those of the system; nil if `SSL_CERT_FILE` is not set.
    private static let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// Creates a transport that shares one connection pool with all other transports of this type.
    public init() {}

    /// Sends a request and reads the whole response, whatever its status.
    public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        do {
            return try await withThrowingTaskGroup(of: TransportResponse.self) { group in
                group.addTask { try await Self.exchange(request) }
                group.addTask {
                    // AsyncHTTPClient applies its timeout only until the response head arrives. This task limits the
                    // time of the whole exchange, including the body.
                    try await Task.sleep(for: request.timeout)
                    throw TransportFailure.timedOut(origin: request.endpoint.origin)
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        } catch let failure as TransportFailure {
            throw failure
        } catch {
            throw Self.failure(error, origin: request.endpoint.origin, limit: request.byteLimit)
        }
    }

    private static func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        var outgoing = HTTPClientRequest(url: request.endpoint.rawValue)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        if !request.body.isEmpty || request.method == .post {
            outgoing.body = .bytes(request.body)
        }
        let answer = try await client.execute(outgoing, timeout: .nanoseconds(Int64(request.timeout / .nanoseconds(1))))
        let status = HTTPResponse.Status(code: Int(answer.status.code), reasonPhrase: answer.status.reasonPhrase)
        var head = HTTPResponse(status: status)
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        let body = try await answer.body.collect(upTo: request.byteLimit)
        return TransportResponse(head: head, body: Array(body.readableBytesView))
    }

    private static func failure(_ error: any Error, origin: String, limit: Int) -> TransportFailure {
        switch error {
        case is CancellationError:
            return .cancelled
        case is NIOTooManyBytesError:
            return .tooLarge(origin: origin, limit: limit)
        case let error as HTTPClientError where error == .cancelled:
            return .cancelled
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            return .timedOut(origin: origin)
        case let error as NIOConnectionError:
            let reason: String
            if error.dnsAError != nil && error.dnsAAAAError != nil {
                reason = "its host name cannot be resolved"
            } else if let cause = error.connectionErrors.first?.error as? IOError, cause.errnoCode == ECONNREFUSED {
                reason = "the connection was refused"
            } else {
                reason = "the connection failed"
            }
            return .unreachable(origin: origin, reason: reason)
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            return .unreachable(origin: origin, reason: "the connection was refused")
        case let error where String(reflecting: type(of: error)).hasPrefix("NIOSSL."):
            let file = authorities.map { "; SSL_CERT_FILE names the certificate authorities: \($0)" } ?? ""
            return .untrusted(origin: origin, reason: "\(error)\(file)")
        default:
            return .unreachable(origin: origin, reason: "the connection failed (\(type(of: error)))")
        }
    }
}

#if canImport(Darwin)
    import Foundation
    import HTTPTypes

    /// A transport that uses URLSession, for Apple platforms.
    ///
    /// URLSession applies the proxies, certificates and network rules of the system.
    public struct URLSessionTransport: HTTPTransport {
        private let session: URLSession

        /// Creates a transport without cookies and without a cache.
        public init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        }

        /// Sends a request and reads the whole response, whatever its status.
        public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            let origin = request.endpoint.origin
            guard let url = URL(string: request.endpoint.rawValue) else {
                throw .unreachable(origin: origin, reason: "the URL is invalid")
            }
            var outgoing = URLRequest(url: url, timeoutInterval: request.timeout / .seconds(1))
            outgoing.httpMethod = request.method.rawValue
            outgoing.httpBody = request.body.isEmpty ? nil : Data(request.body)
            for field in request.headerFields {
                outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            do {
                let (bytes, answer) = try await session.bytes(for: outgoing)
                var head = HTTPResponse(status: .init(code: (answer as? HTTPURLResponse)?.statusCode ?? 0))
                for (name, value) in (answer as? HTTPURLResponse)?.allHeaderFields ?? [:] {
                    guard let name = (name as? String).flatMap(HTTPField.Name.init), let value = value as? String else {
                        continue
                    }
                    head.headerFields.append(HTTPField(name: name, value: value))
                }
                var body: [UInt8] = []
                for try await byte in bytes {
                    guard body.count < request.byteLimit else {
                        throw TransportFailure.tooLarge(origin: origin, limit: request.byteLimit)
                    }
                    body.append(byte)
                }
                return TransportResponse(head: head, body: body)
            } catch let failure as TransportFailure {
                throw failure
            } catch let error as URLError {
                throw Self.failure(error, origin: origin)
            } catch {
                throw .cancelled
            }
        }

        private static func failure(_ error: URLError, origin: String) -> TransportFailure {
            switch error.code {
            case .cancelled: .cancelled
            case .timedOut: .timedOut(origin: origin)
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .secureConnectionFailed:
                .untrusted(origin: origin, reason: error.localizedDescription)
            default: .unreachable(origin: origin, reason: error.localizedDescription)
            }
        }

        /// A delegate that refuses redirects, because a redirect could send a code or token to another host (RFC 9700
        /// §4.12).
        private final class NoRedirects: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest
            ) async -> URLRequest? {
                nil
            }
        }
    }
#endif

#if canImport(Darwin)
    import CounterfoilProtocol
    import Foundation
    import HTTPTypes

    /// A transport that uses URLSession, for Apple platforms.
    ///
    /// URLSession applies the proxies, certificates and network rules of the system.
    public struct URLSessionTransport: HTTPTransport {
        /// The session without cookies, cache and stored credentials that all transports of the process share.
        ///
        /// A URLSession retains its delegate until it is invalidated. One for each transport would never be freed.
        private static let session: URLSession = {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            return URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        }()

        private static let exchanges = URLSessionExchanges()

        private let userAgent: UserAgent

        /// Creates a transport that shares one session with all other transports of this type.
        ///
        /// `userAgent` is sent with every request that has no `User-Agent` of its own.
        public init(userAgent: UserAgent = .library) { self.userAgent = userAgent }

        /// Sends a request and reads the whole response, whatever its status.
        public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            let origin = request.endpoint.origin
            guard let url = URL(string: request.endpoint.rawValue) else {
                throw .unreachable(origin: origin, reason: "the URL is invalid")
            }
            // This interval limits only the time without data. `response` limits the time of the whole exchange.
            var outgoing = URLRequest(url: url, timeoutInterval: request.timeout / .seconds(1))
            outgoing.httpMethod = request.method.rawValue
            outgoing.httpBody = request.body.isEmpty ? nil : Data(request.body)
            for field in request.headerFields {
                outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            if request.headerFields[.userAgent] == nil {
                outgoing.setValue(userAgent.rawValue, forHTTPHeaderField: "User-Agent")
            }
            do {
                return try await Self.response(
                    to: outgoing, within: request.timeout, byteLimit: request.readsBody ? request.byteLimit : nil)
            } catch let error as URLError {
                throw TransportFailure(
                    urlErrorCode: error.code.rawValue, reason: error.localizedDescription, origin: origin)
            } catch is URLSessionExchanges.TooLarge {
                throw .tooLarge(origin: origin, limit: request.byteLimit)
            } catch is DeadlineExceeded {
                throw .timedOut(origin: origin)
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .unreachable(origin: origin, reason: error.localizedDescription)
            }
        }

        private struct DeadlineExceeded: Error {}

        private static func response(
            to request: URLRequest, within timeout: Duration, byteLimit: Int?
        ) async throws -> TransportResponse {
            try await withThrowingTaskGroup(of: TransportResponse.self) { group in
                group.addTask { try await exchange(request, byteLimit: byteLimit) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw DeadlineExceeded()
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        }

        private static func exchange(_ request: URLRequest, byteLimit: Int?) async throws -> TransportResponse {
            let task = session.dataTask(with: request)
            let outcome = exchanges.begin(task, byteLimit: byteLimit)
            let (response, body) = try await withTaskCancellationHandler {
                task.resume()
                for await result in outcome { return try result.get() }
                throw CancellationError()
            } onCancel: {
                task.cancel()
            }
            var head = HTTPResponse(status: .init(code: response.statusCode))
            for (name, value) in response.allHeaderFields {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                    continue
                }
                head.headerFields.append(HTTPField(name: name, value: value))
            }
            return TransportResponse(head: head, body: Array(body))
        }
    }

    /// The exchanges of a URLSession that have not ended, by their tasks.
    private final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
        typealias Outcome = Result<(HTTPURLResponse, Data), any Error>

        /// The response body is longer than the limit.
        struct TooLarge: Error {}

        private struct Exchange {
            /// The limit of the body; nil if the response ends with its head.
            let byteLimit: Int?
            var body = Data()
            let outcome: AsyncStream<Outcome>.Continuation
        }

        private let open = Mutex<[Int: Exchange]>([:])

        /// Starts to collect the response to a task that has not been resumed.
        func begin(_ task: URLSessionTask, byteLimit: Int?) -> AsyncStream<Outcome> {
            let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingOldest(1))
            open.withLock { $0[task.taskIdentifier] = Exchange(byteLimit: byteLimit, outcome: outcome) }
            return outcomes
        }

        private func end(_ task: URLSessionTask, _ outcome: (Exchange) -> Outcome) {
            guard let exchange = open.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            exchange.outcome.yield(outcome(exchange))
            exchange.outcome.finish()
        }

        /// Refuses redirects, because a redirect could send a code or token to another host (RFC 9700 §4.12).
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            nil
        }

        /// Ends the exchange after the head if the body is not read.
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            let readsBody = open.withLock { $0[dataTask.taskIdentifier]?.byteLimit != nil }
            guard !readsBody, let head = response as? HTTPURLResponse else { return .allow }
            end(dataTask) { _ in .success((head, Data())) }
            return .cancel
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let fits = open.withLock { open in
                guard var exchange = open.removeValue(forKey: dataTask.taskIdentifier) else { return true }
                exchange.body.append(data)
                let fits = exchange.byteLimit.map { exchange.body.count <= $0 } ?? true
                open[dataTask.taskIdentifier] = exchange
                return fits
            }
            guard !fits else { return }
            end(dataTask) { _ in .failure(TooLarge()) }
            dataTask.cancel()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end(task) { exchange in
                if let error { return .failure(error) }
                guard let response = task.response as? HTTPURLResponse else {
                    return .failure(URLError(.badServerResponse))
                }
                return .success((response, exchange.body))
            }
        }
    }
#endif

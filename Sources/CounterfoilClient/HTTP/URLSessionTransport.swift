#if canImport(Darwin)
    @_spi(Counterfoil) import CounterfoilProtocol
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
            let (response, body) = try await exchange(
                request, reading: request.readsBody ? .body(limit: request.byteLimit) : .head)
            return TransportResponse(head: HTTPResponse(response), body: Array(body))
        }

        /// Sends a request, and returns when the head of the response has arrived.
        public func stream(
            _ request: TransportRequest, idleTimeout: Duration
        ) async throws(TransportFailure) -> StreamedResponse {
            let channel = BodyChannel(from: request.endpoint.origin, idleTimeout: idleTimeout)
            let (response, _) = try await exchange(request, reading: .stream(channel), idleTimeout: idleTimeout)
            return StreamedResponse(head: HTTPResponse(response), body: StreamedBody(channel))
        }

        private struct DeadlineExceeded: Error {}

        private func exchange(
            _ request: TransportRequest, reading: URLSessionExchanges.Reading, idleTimeout: Duration? = nil
        ) async throws(TransportFailure) -> (HTTPURLResponse, Data) {
            let origin = request.endpoint.origin
            guard let url = URL(string: request.endpoint.rawValue) else {
                throw .unreachable(origin: origin, reason: "the URL is invalid")
            }
            // This interval limits only the time without data. `limited` limits the time of the whole exchange, or
            // until the head of a stream.
            let interval = max(request.timeout, idleTimeout ?? .zero) / .seconds(1)
            var outgoing = URLRequest(url: url, timeoutInterval: interval)
            outgoing.httpMethod = request.method.rawValue
            let clock = RequestClock(limit: request.timeout)
            var upload: BodyStream?
            if let bytes = request.body.bytes {
                outgoing.httpBody = bytes.isEmpty ? nil : Data(bytes)
            } else {
                upload = try BodyStream(of: request.body, clock, to: origin)
                outgoing.httpBodyStream = upload?.input
                // Without the length, URLSession sends the body in chunks (RFC 9112 §7.1).
                if let length = request.body.length {
                    outgoing.setValue(String(length), forHTTPHeaderField: "Content-Length")
                }
                // Only `clock` limits an upload, which may take hours.
                outgoing.timeoutInterval = 365 * 86_400
            }
            for field in request.headerFields {
                outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            if request.headerFields[.userAgent] == nil {
                outgoing.setValue(userAgent.rawValue, forHTTPHeaderField: "User-Agent")
            }
            do {
                return try await Self.limited(outgoing, by: clock, reading: reading)
            } catch let error as URLError {
                if let reason = upload?.failure { throw .bodyUnreadable(reason: reason.description) }
                throw TransportFailure(error, origin: origin)
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

        private static func limited(
            _ request: URLRequest, by clock: RequestClock, reading: URLSessionExchanges.Reading
        ) async throws -> (HTTPURLResponse, Data) {
            try await withThrowingTaskGroup(of: (HTTPURLResponse, Data).self) { group in
                group.addTask {
                    let task = session.dataTask(with: request)
                    let outcome = exchanges.begin(task, reading: reading)
                    return try await withTaskCancellationHandler {
                        task.resume()
                        for await result in outcome { return try result.get() }
                        throw CancellationError()
                    } onCancel: {
                        task.cancel()
                    }
                }
                group.addTask {
                    try await clock.expiration()
                    throw DeadlineExceeded()
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        }
    }

    extension HTTPResponse {
        init(_ response: HTTPURLResponse) {
            self.init(status: .init(code: response.statusCode))
            for (name, value) in response.allHeaderFields {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                    continue
                }
                headerFields.append(HTTPField(name: name, value: value))
            }
        }
    }

    extension TransportFailure {
        fileprivate init(_ error: URLError, origin: String) {
            self.init(urlErrorCode: error.code.rawValue, reason: error.localizedDescription, origin: origin)
        }
    }

    /// A stream from which URLSession reads a body that a thread reads from its file.
    private struct BodyStream {
        let input: InputStream
        private let end = End()

        /// The end of the body, if the file could not be read.
        private final class End: Sendable {
            let failure = Mutex<RequestBody.Unreadable?>(nil)
        }

        /// The reason why the file could not be read; nil if it could.
        var failure: RequestBody.Unreadable? { end.failure.withLock { $0 } }

        init(of body: RequestBody, _ clock: RequestClock, to origin: String) throws(TransportFailure) {
            var streams: (input: InputStream?, output: OutputStream?)
            Stream.getBoundStreams(
                withBufferSize: 256 * 1024, inputStream: &streams.input, outputStream: &streams.output)
            guard let input = streams.input, let writingEnd = streams.output else {
                throw .unreachable(origin: origin, reason: "the system has no resources for the upload")
            }
            self.input = input
            // From here on, only the thread uses this end.
            nonisolated(unsafe) let output = writingEnd
            let isStarted = DetachedThread.start { [end] in
                output.open()
                defer { output.close() }
                var reader = body.reader
                do throws(RequestBody.Unreadable) {
                    while true {
                        clock.pause()
                        let part = try reader.next()
                        clock.restart()
                        guard let part, Self.write(part, to: output) else { return }
                    }
                } catch {
                    end.failure.withLock { $0 = error }
                    clock.restart()
                }
            }
            guard isStarted else {
                throw .unreachable(origin: origin, reason: "the system has no resources for the upload")
            }
        }

        /// Writes a part, and waits until URLSession has read most of it; returns false if the task has ended.
        private static func write(_ part: [UInt8], to output: OutputStream) -> Bool {
            var rest = part[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBufferPointer { bytes in
                    bytes.baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// The exchanges of a URLSession that have not ended, by their tasks.
    private final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
        typealias Outcome = Result<(HTTPURLResponse, Data), any Error>

        /// The response body is longer than the limit.
        struct TooLarge: Error {}

        /// The part of a response that is read.
        enum Reading: Sendable {
            /// The head and the whole body, with a limit in bytes.
            case body(limit: Int)
            /// The head only.
            case head
            /// The head, and the body as it arrives.
            case stream(BodyChannel)
        }

        private struct Exchange {
            let reading: Reading
            var body = Data()
            let outcome: AsyncStream<Outcome>.Continuation
        }

        private let open = Mutex<[Int: Exchange]>([:])

        /// Starts to collect the response to a task that has not been resumed.
        func begin(_ task: URLSessionTask, reading: Reading) -> AsyncStream<Outcome> {
            let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingOldest(1))
            open.withLock { $0[task.taskIdentifier] = Exchange(reading: reading, outcome: outcome) }
            if case .stream(let channel) = reading { channel.onAbandon { task.cancel() } }
            return outcomes
        }

        private func end(_ task: URLSessionTask, _ outcome: (Exchange) -> Outcome) {
            guard let exchange = open.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            exchange.outcome.yield(outcome(exchange))
            exchange.outcome.finish()
        }

        private func reading(of task: URLSessionTask) -> Reading? {
            open.withLock { $0[task.taskIdentifier]?.reading }
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

        /// Returns the head to the caller that does not wait for the body.
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            guard let head = response as? HTTPURLResponse else { return .allow }
            switch reading(of: dataTask) {
            case .body, nil: return .allow
            case .head:
                end(dataTask) { _ in .success((head, Data())) }
                return .cancel
            case .stream:
                let outcome = open.withLock { $0[dataTask.taskIdentifier]?.outcome }
                outcome?.yield(.success((head, Data())))
                outcome?.finish()
                return .allow
            }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            if case .stream(let channel) = reading(of: dataTask) {
                // The reader may make room at once, so pause first.
                dataTask.suspend()
                if channel.offer(Array(data), resume: { dataTask.resume() }) { dataTask.resume() }
                return
            }
            let fits = open.withLock { open in
                guard var exchange = open.removeValue(forKey: dataTask.taskIdentifier) else { return true }
                exchange.body.append(data)
                open[dataTask.taskIdentifier] = exchange
                guard case .body(let limit) = exchange.reading else { return true }
                return exchange.body.count <= limit
            }
            guard !fits else { return }
            end(dataTask) { _ in .failure(TooLarge()) }
            dataTask.cancel()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if case .stream(let channel) = reading(of: task) {
                if let error {
                    let failure = (error as? URLError).map { TransportFailure($0, origin: channel.origin) }
                    channel.fail(
                        failure ?? .unreachable(origin: channel.origin, reason: error.localizedDescription))
                } else {
                    channel.finish()
                }
            }
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

#if canImport(AsyncHTTPClient)
    import AsyncHTTPClient
    import HTTPTypes
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    @_spi(Counterfoil) import CounterfoilProtocol
    import CounterfoilPlatform

    /// A transport that uses AsyncHTTPClient, for all platforms except Apple's.
    ///
    /// The transport trusts the certificate authorities of the system. If the environment variable `SSL_CERT_FILE`
    /// names a file, or `SSL_CERT_DIR` folders, the transport trusts the authorities there instead.
    ///
    /// Requests to https URLs go through the HTTP proxy that `HTTPS_PROXY` or `ALL_PROXY` names, except to the hosts in
    /// `NO_PROXY`. Requests to loopback never go through a proxy.
    public struct AsyncHTTPClientTransport: HTTPTransport {
        private let userAgent: UserAgent
        private let proxies: ProxySettings
        private let authorities: TrustedAuthorities

        /// Creates a transport that shares its connections with all other transports of this type.
        ///
        /// `userAgent` is sent with every request that has no `User-Agent` of its own.
        public init(userAgent: UserAgent = .library) {
            self.userAgent = userAgent
            (proxies, authorities) = Self.environment
        }

        /// Creates a transport with other environment variables than those of this process.
        package init(userAgent: UserAgent = .library, environment: [String: String]) {
            self.userAgent = userAgent
            proxies = ProxySettings(environment)
            authorities = TrustedAuthorities(environment)
        }

        private static let environment = (
            ProxySettings(ProcessInfo.processInfo.environment),
            TrustedAuthorities(ProcessInfo.processInfo.environment)
        )

        /// Sends a request and reads the whole response, whatever its status.
        public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            let connection = try connection(to: request.endpoint)
            return try await limited(by: request) { clock throws(TransportFailure) in
                do {
                    let answer = try await execute(request, through: connection.client, clock)
                    let head = HTTPResponse(answer)
                    // AsyncHTTPClient closes the connection if the body is not read.
                    guard request.readsBody else { return TransportResponse(head: head, body: []) }
                    let body = try await answer.body.collect(upTo: request.byteLimit)
                    return TransportResponse(head: head, body: Array(body.readableBytesView))
                } catch { throw await failure(error, of: request, by: connection.proxy) }
            }
        }

        /// Sends a request, and returns when the head of the response has arrived.
        public func stream(
            _ request: TransportRequest, idleTimeout: Duration
        ) async throws(TransportFailure) -> StreamedResponse {
            let connection = try connection(to: request.endpoint)
            return try await limited(by: request) { clock throws(TransportFailure) in
                do {
                    let answer = try await execute(request, through: connection.client, clock)
                    let channel = BodyChannel(from: request.endpoint.origin, idleTimeout: idleTimeout)
                    let reading = Task {
                        do {
                            for try await chunk in answer.body {
                                guard await channel.write(Array(chunk.readableBytesView)) else { return }
                            }
                            channel.finish()
                        } catch {
                            channel.fail(
                                Self.failure(
                                    error, origin: channel.origin, limit: request.byteLimit, proxy: connection.proxy))
                        }
                    }
                    channel.onAbandon { reading.cancel() }
                    return StreamedResponse(head: HTTPResponse(answer), body: StreamedBody(channel))
                } catch { throw await failure(error, of: request, by: connection.proxy) }
            }
        }

        private func connection(
            to endpoint: EndpointURL
        ) throws(TransportFailure) -> (client: HTTPClient, proxy: ProxySettings.Proxy?) {
            let proxy: ProxySettings.Proxy?
            do throws(ProxySettings.Unusable) { proxy = try proxies.proxy(for: endpoint) } catch {
                throw .misconfigured(
                    reason: "\(error.variable) is not the URL of an HTTP proxy, such as http://proxy.example.com:3128; "
                        + "proxies of other kinds, such as SOCKS, are not supported")
            }
            do throws(TrustedAuthorities.Unusable) {
                return (try Self.client(PoolKey(proxy: proxy, authorities: authorities)), proxy)
            } catch { throw .misconfigured(reason: error.description) }
        }

        /// Runs a step of a request within the time limit of the request.
        private func limited<Response: Sendable>(
            by request: TransportRequest,
            _ step: @escaping @Sendable (RequestClock) async throws(TransportFailure) -> Response
        ) async throws(TransportFailure) -> Response {
            let clock = RequestClock(limit: request.timeout)
            do {
                return try await withThrowingTaskGroup(of: Response.self) { group in
                    group.addTask { try await step(clock) }
                    group.addTask {
                        // AsyncHTTPClient applies its timeout only until the response head arrives. This task limits
                        // the time of the whole step.
                        try await clock.expiration()
                        throw TransportFailure.timedOut(origin: request.endpoint.origin)
                    }
                    defer { group.cancelAll() }
                    guard let response = try await group.next() else { throw CancellationError() }
                    return response
                }
            } catch let failure as TransportFailure {
                throw failure
            } catch {
                throw .cancelled
            }
        }

        private func failure(
            _ error: any Error, of request: TransportRequest, by proxy: ProxySettings.Proxy?
        ) async -> TransportFailure {
            guard let problem = TLSProblem(error) else {
                return Self.failure(error, origin: request.endpoint.origin, limit: request.byteLimit, proxy: proxy)
            }
            // Behind a proxy, a second connection to the server itself may be impossible or forbidden.
            let isExamined = problem == .untrusted && proxy == nil
            let known = isExamined ? await TLSProblem.examine(request.endpoint) : problem
            return known.failure(of: request.endpoint.origin, trusting: authorities.variables)
        }

        private func execute(
            _ request: TransportRequest, through client: HTTPClient, _ clock: RequestClock
        ) async throws -> HTTPClientResponse {
            var outgoing = HTTPClientRequest(url: request.endpoint.rawValue)
            outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
            for field in request.headerFields {
                outgoing.headers.add(name: field.name.rawName, value: field.value)
            }
            if request.headerFields[.userAgent] == nil {
                outgoing.headers.add(name: "User-Agent", value: userAgent.rawValue)
            }
            var timeout = TimeAmount.nanoseconds(Int64(request.timeout / .nanoseconds(1)))
            if let bytes = request.body.bytes {
                if !bytes.isEmpty || request.method == .post { outgoing.body = .bytes(bytes) }
            } else {
                let length = request.body.length.map { HTTPClientRequest.Body.Length.known(Int64($0)) }
                outgoing.body = .stream(SentParts(body: request.body, clock: clock), length: length ?? .unknown)
                // Only `clock` limits an upload, which may take hours.
                timeout = .hours(24 * 365)
            }
            return try await client.execute(outgoing, timeout: timeout)
        }
    }

    /// The parts of a body that is read from a file, each of which restarts the clock of the request.
    private struct SentParts: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        let body: RequestBody
        let clock: RequestClock

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: body.makeAsyncIterator(), clock: clock) }

        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var parts: RequestBody.AsyncIterator
            fileprivate let clock: RequestClock

            mutating func next() async throws -> ByteBuffer? {
                clock.pause()
                defer { clock.restart() }
                return try await parts.next().map { ByteBuffer(bytes: $0) }
            }
        }
    }

    extension HTTPResponse {
        fileprivate init(_ answer: HTTPClientResponse) {
            self.init(status: Status(code: Int(answer.status.code), reasonPhrase: answer.status.reasonPhrase))
            for (name, value) in answer.headers {
                guard let name = HTTPField.Name(name) else { continue }
                headerFields.append(HTTPField(name: name, value: value))
            }
        }
    }

    // MARK: - Clients

    extension AsyncHTTPClientTransport {
        private struct PoolKey: Hashable {
            let proxy: ProxySettings.Proxy?
            let authorities: TrustedAuthorities
        }

        /// The HTTP clients, one for each proxy and set of authorities, with the connections of the process.
        ///
        /// They live as long as the process, so callers do not have to shut them down.
        private static let clients = Mutex<[PoolKey: HTTPClient]>([:])

        private static func client(_ key: PoolKey) throws(TrustedAuthorities.Unusable) -> HTTPClient {
            if let client = clients.withLock({ $0[key] }) { return client }
            // RFC 9700 §4.12: a redirect could send a code or token to another host.
            var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            configuration.timeout.connect = .seconds(10)
            // Report a refused connection immediately. By default, AsyncHTTPClient retries it until the timeout.
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.httpVersion = .automatic
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = try key.authorities.roots()
            configuration.tlsConfiguration = tls
            configuration.proxy = key.proxy.map { proxy in
                .server(
                    host: proxy.host, port: proxy.port,
                    authorization: proxy.credentials.map { .basic(username: $0.user, password: $0.password) })
            }
            return clients.withLock { [configuration] clients in
                if let client = clients[key] { return client }
                let client = HTTPClient(
                    eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
                clients[key] = client
                return client
            }
        }
    }

    // MARK: - Failures

    extension AsyncHTTPClientTransport {
        private static func failure(
            _ error: any Error, origin: String, limit: Int, proxy: ProxySettings.Proxy?
        ) -> TransportFailure {
            switch error {
            case is CancellationError:
                return .cancelled
            case let error as RequestBody.Unreadable:
                return .bodyUnreadable(reason: error.description)
            case is NIOTooManyBytesError:
                return .tooLarge(origin: origin, limit: limit)
            case let error as HTTPClientError:
                return failure(error, origin: origin, proxy: proxy)
            case let error as NIOConnectionError:
                let subject = proxy.map { "the proxy \($0.name)" }
                if error.dnsAError != nil && error.dnsAAAAError != nil {
                    let host = subject.map { "the host name of \($0)" } ?? "its host name"
                    return .unreachable(origin: origin, reason: "\(host) cannot be resolved")
                }
                let isRefused = (error.connectionErrors.first?.error as? IOError)?.errnoCode == ECONNREFUSED
                let connection = subject.map { "the connection to \($0)" } ?? "the connection"
                return .unreachable(origin: origin, reason: "\(connection) \(isRefused ? "was refused" : "failed")")
            case let error as IOError where error.errnoCode == ECONNREFUSED:
                let connection = proxy.map { "the connection to the proxy \($0.name)" } ?? "the connection"
                return .unreachable(origin: origin, reason: "\(connection) was refused")
            default:
                return .unreachable(origin: origin, reason: "the connection failed (\(type(of: error)))")
            }
        }

        private static func failure(
            _ error: HTTPClientError, origin: String, proxy: ProxySettings.Proxy?
        ) -> TransportFailure {
            let timeouts: [HTTPClientError] = [
                .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
                .httpProxyHandshakeTimeout,
            ]
            if timeouts.contains(error) { return .timedOut(origin: origin) }
            let name = proxy.map(\.name) ?? ""
            switch error {
            case .cancelled: return .cancelled
            case .proxyAuthenticationRequired:
                let given = proxy?.credentials == nil ? "requires credentials" : "does not accept the credentials"
                return .unreachable(
                    origin: origin,
                    reason:
                        "the proxy \(name) \(given); put them into HTTPS_PROXY, as in http://USER:PASSWORD@\(name)")
            case .invalidProxyResponse:
                return .unreachable(origin: origin, reason: "the proxy \(name) refused to connect to it")
            case .remoteConnectionClosed:
                return .unreachable(origin: origin, reason: "the connection was closed")
            default: return .unreachable(origin: origin, reason: "the connection failed")
            }
        }
    }
#endif

#if canImport(AsyncHTTPClient)
    import CounterfoilProtocol
    import NIOCore
    import NIOPosix
    import NIOSSL
    import CounterfoilPlatform

    /// The reason why a TLS connection to a server failed, in words for users.
    enum TLSProblem: Hashable, Sendable {
        /// The certificate is expired, or will be valid only later.
        case expired(Date)
        case notYetValid(Date)
        case unknownAuthority
        /// The certificate is expired or of an unknown authority; it could not be examined.
        case untrusted
        case otherHost
        case notTLS
        case noCommonVersion
        case wantsClientCertificate
        case closed
        case other

        /// Finds the reason in an error of the TLS library; nil if it is an error of another kind.
        init?(_ error: any Error) {
            if let error = error as? NIOSSLExtraError {
                let hosts = [NIOSSLExtraError.failedToValidateHostname, .serverHostnameImpossibleToMatch]
                self = hosts.contains(error) ? .otherHost : .other
                return
            }
            guard String(reflecting: type(of: error)).hasPrefix("NIOSSL.") else { return nil }
            // The library has no other name for its reasons than the texts of BoringSSL.
            let text = "\(error)"
            let reasons: [(String, TLSProblem)] = [
                ("CERTIFICATE_VERIFY_FAILED", .untrusted), ("WRONG_VERSION_NUMBER", .notTLS), ("HTTP_REQUEST", .notTLS),
                ("HTTPS_PROXY_REQUEST", .notTLS), ("UNSUPPORTED_PROTOCOL", .noCommonVersion),
                ("PROTOCOL_VERSION", .noCommonVersion), ("HANDSHAKE_FAILURE", .noCommonVersion),
                ("NO_SHARED_CIPHER", .noCommonVersion), ("INSUFFICIENT_SECURITY", .noCommonVersion),
                ("CERTIFICATE_REQUIRED", .wantsClientCertificate), ("EOF during handshake", .closed),
            ]
            self = reasons.first { text.contains($0.0) }?.1 ?? .other
        }

        /// Returns the failure of a request to an origin.
        ///
        /// - Parameter variables: The variables that name the authorities; nil if those of the system are trusted.
        func failure(of origin: String, trusting variables: String?) -> TransportFailure {
            let remedy =
                variables.map { "none of the authorities in \($0) issued it" }
                ?? "no authority that this system trusts issued it; if a private authority or a proxy did, name the file"
                + " with the authority's certificate in SSL_CERT_FILE"
            return switch self {
            case .expired(let date):
                .untrusted(
                    origin: origin, reason: "it expired on \(Self.day(date)); check the clock of this device too")
            case .notYetValid(let date):
                .untrusted(
                    origin: origin,
                    reason: "it is not valid before \(Self.day(date)); check the clock of this device too")
            case .unknownAuthority: .untrusted(origin: origin, reason: remedy)
            case .untrusted: .untrusted(origin: origin, reason: "it has expired, or \(remedy)")
            case .otherHost:
                // The other host may be a captive portal. A server with a wrong certificate looks the same.
                .untrusted(
                    origin: origin,
                    reason: "it is for another host name; check the name, and sign in to this network in a browser if"
                        + " it requires that")
            case .notTLS:
                .unreachable(origin: origin, reason: "the server does not use TLS on this port; check the port")
            case .noCommonVersion:
                .unreachable(origin: origin, reason: "the server supports no TLS version or cipher of this program")
            case .wantsClientCertificate:
                .unreachable(origin: origin, reason: "the server requires a TLS client certificate")
            case .closed:
                .unreachable(origin: origin, reason: "the server closed the connection during the TLS handshake")
            case .other: .unreachable(origin: origin, reason: "the TLS handshake failed")
            }
        }

        private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
    }

    extension TLSProblem {
        /// Examines the certificate of a server that was not trusted.
        ///
        /// The TLS library does not tell why it rejects a certificate. This function opens a second connection, which
        /// is closed before anything is sent, and reads the period in which the certificates are valid.
        static func examine(_ endpoint: EndpointURL) async -> TLSProblem {
            guard let host = endpoint.uri.host else { return .untrusted }
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let examined = loop.makePromise(of: TLSProblem.self)
            do {
                let context = try NIOSSLContext(configuration: .makeClientConfiguration())
                let address = IPAddress(host)
                let bareHost = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
                let channel = try await ClientBootstrap(group: loop)
                    .connectTimeout(.seconds(5))
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            let handler = try NIOSSLClientHandler(
                                context: context, serverHostname: address == nil ? bareHost : nil,
                                customVerificationCallback: { certificates, verified in
                                    examined.succeed(Self.problem(with: certificates))
                                    verified.succeed(.failed)
                                })
                            try channel.pipeline.syncOperations.addHandler(handler)
                        }
                    }
                    .connect(host: bareHost, port: endpoint.uri.port ?? 443).get()
                channel.closeFuture.whenComplete { _ in examined.succeed(.untrusted) }
                let limit = loop.scheduleTask(in: .seconds(5)) { channel.close(promise: nil) }
                let problem = try await examined.futureResult.get()
                limit.cancel()
                channel.close(promise: nil)
                return problem
            } catch {
                examined.succeed(.untrusted)
                return .untrusted
            }
        }

        private static func problem(with certificates: [NIOSSLCertificate]) -> TLSProblem {
            let now = Date()
            for certificate in certificates {
                let end = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
                if end < now { return .expired(end) }
                let start = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
                if start > now { return .notYetValid(start) }
            }
            return .unknownAuthority
        }
    }
#endif

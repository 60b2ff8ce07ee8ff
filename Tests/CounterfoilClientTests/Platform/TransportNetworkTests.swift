#if os(Linux)
    import CounterfoilClient
    import CounterfoilClientTesting
    import Foundation
    import HTTPTypes
    import TestSupport
    import Testing

    /// Tests of the transport behind a proxy, and of the header field that names the program.
    @Suite(.timeLimit(.minutes(2)))
    struct TransportNetworkTests {
        private static func get(
            _ url: String, _ environment: [String: String]
        ) async throws -> TransportResponse {
            try await AsyncHTTPClientTransport(environment: environment).send(TransportRequest(EndpointURL(url)))
        }

        // The proxy resolves the name, so the client needs no name server of its own.
        @Test func `a request goes through the proxy, with its credentials, and TLS ends at the server`() async throws {
            let authority = try TLSAuthority()
            try await authority.run(names: "DNS:id.example.test") { port in
                let proxy = try ConnectProxy(
                    to: port, authorization: "Basic \(Data("al@ice:s3cret".utf8).base64EncodedString())")
                defer { proxy.stop() }
                var environment = [
                    "SSL_CERT_FILE": authority.certificate,
                    "HTTPS_PROXY": "http://al%40ice:s3cret@127.0.0.1:\(proxy.port)",
                ]
                #expect(try await Self.get("https://id.example.test:8443/", environment).statusCode == 200)
                #expect(proxy.requests.first?.hasPrefix("CONNECT id.example.test:8443 HTTP/1.1\r\n") == true)

                environment["HTTPS_PROXY"] = "http://alice:wrong@127.0.0.1:\(proxy.port)"
                let error = await #expect(throws: TransportFailure.self) {
                    try await Self.get("https://id.example.test/", environment)
                }
                #expect(
                    error?.description
                        == "https://id.example.test cannot be reached: the proxy 127.0.0.1:\(proxy.port) does not accept the credentials; put them into HTTPS_PROXY, as in http://USER:PASSWORD@127.0.0.1:\(proxy.port)"
                )

                // The server has no certificate for this host, and the proxy sees nothing but the tunnel.
                environment["HTTPS_PROXY"] = "http://al%40ice:s3cret@127.0.0.1:\(proxy.port)"
                let other = await #expect(throws: TransportFailure.self) {
                    try await Self.get("https://other.example.test/", environment)
                }
                #expect(
                    other?.description.hasPrefix(
                        "the TLS certificate of https://other.example.test is not trusted: it is for another host name")
                        == true)
                environment["SSL_CERT_FILE"] = nil
                let unknown = await #expect(throws: TransportFailure.self) {
                    try await Self.get("https://id.example.test/", environment)
                }
                #expect(unknown?.description.contains("SSL_CERT_FILE") == true, "\(unknown as Any)")
            }
        }

        @Test func `hosts in NO_PROXY and loopback are reached directly`() async throws {
            try await ScriptedAuthorizationServer.run { server in
                let proxy = try ConnectProxy(to: 1)
                defer { proxy.stop() }
                let environment = ["HTTPS_PROXY": "127.0.0.1:\(proxy.port)", "ALL_PROXY": "127.0.0.1:\(proxy.port)"]
                _ = try await Self.get(server.url(of: .metadata), environment)
                #expect(proxy.requests.isEmpty)
                await #expect(throws: TransportFailure.self) {
                    try await Self.get("https://id.example.test/", environment.merging(["NO_PROXY": "test"]) { $1 })
                }
                #expect(proxy.requests.isEmpty)
            }
        }

        @Test func `a proxy that does not answer or refuses is named in the error`() async throws {
            let closed = try await UnassignedPort.one()
            let proxy = try ConnectProxy(to: closed)
            defer { proxy.stop() }
            for (setting, reason) in [
                ("127.0.0.1:\(closed)", "the connection to the proxy 127.0.0.1:\(closed) was refused"),
                ("127.0.0.1:\(proxy.port)", "the proxy 127.0.0.1:\(proxy.port) refused to connect to it"),
            ] {
                await #expect(throws: TransportFailure.unreachable(origin: "https://id.example.test", reason: reason)) {
                    try await Self.get("https://id.example.test/", ["HTTPS_PROXY": setting])
                }
            }
        }

        // A retry loop would never end: 6 means that the failure may pass.
        @Test(arguments: [
            (
                "HTTPS_PROXY", "socks5://127.0.0.1:1080",
                "HTTPS_PROXY is not the URL of an HTTP proxy, such as http://proxy.example.com:3128; "
                    + "proxies of other kinds, such as SOCKS, are not supported"
            ),
            (
                "all_proxy", "socks5h://127.0.0.1:1080",
                "all_proxy is not the URL of an HTTP proxy, such as http://proxy.example.com:3128; "
                    + "proxies of other kinds, such as SOCKS, are not supported"
            ),
            (
                "SSL_CERT_FILE", "/nonexistent",
                "SSL_CERT_FILE names no readable file with certificates in PEM format: /nonexistent"
            ),
        ])
        func `a setting of the network that is not usable ends with 64`(
            variable: String, value: String, reason: String
        ) async throws {
            let directory = try TemporaryDirectory()
            for arguments in [
                ["login", "https://id.example.test", "--client-id", "lightbox"], ["doctor", "https://id.example.test"],
            ] {
                let outcome = try await CommandLineTool.run(
                    arguments, home: directory.url, environment: [variable: value])
                #expect(outcome.status == 64, "\(outcome.errors)")
                #expect((outcome.output + outcome.errors).contains(reason), "\(outcome.errors)")
            }
        }

        @Test func `the program uses the proxy of its environment, and reports its own version`() async throws {
            let directory = try TemporaryDirectory()
            let proxy = try ConnectProxy(to: try await UnassignedPort.one())
            defer { proxy.stop() }
            let login = try await CommandLineTool.run(
                ["login", "https://id.example.test", "--client-id", "lightbox"], home: directory.url,
                environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
            #expect(login.status == 6)
            #expect(login.errors.contains("the proxy 127.0.0.1:\(proxy.port) refused to connect to it"))
            #expect(proxy.requests.first?.hasPrefix("CONNECT id.example.test:443 ") == true)
            let version = try await CommandLineTool.run(["--version"], home: directory.url)
            #expect(version.output == "\(UserAgent.version)\n")
        }

        // RFC 9110 §10.1.5: some servers refuse requests without it.
        @Test func `each request names the program`() async throws {
            try await ScriptedAuthorizationServer.run { server in
                let credentials = try await SignedIn.at(server, scope: "openid photos.read", in: MemoryTokenStore())
                _ = try await ResourceClient(credentials).get(server.url(of: .api))
                _ = try await UserInfoRequest().claims(of: credentials)
                #expect(Set(server.requests.map { $0.userAgent }) == ["Counterfoil/\(UserAgent.version)"])

                server.forgetRequests()
                let transport = AsyncHTTPClientTransport(userAgent: try UserAgent("Lightbox/2.1 (kiosk)"))
                _ = try await ResourceClient(credentials, transport: transport).get(server.url(of: .api))
                let own = try TransportRequest(api: server.url(of: .api), headerFields: [.userAgent: "curl/8"])
                _ = try await ResourceClient(credentials, transport: transport).send(own)
                #expect(
                    server.requests.map { $0.userAgent } == [
                        "Lightbox/2.1 (kiosk) Counterfoil/\(UserAgent.version)", "curl/8",
                    ])
            }
            for text in ["", " a", "a ", "a\r\nb", "ä", String(repeating: "a", count: 257)] {
                #expect(throws: UserAgent.Refusal.malformed) { try UserAgent(text) }
            }
        }
    }

    extension RecordedRequest {
        fileprivate var userAgent: String? { head.headerFields[.userAgent] }
    }
#endif

#if os(Linux)
    import TestSupport
    import CounterfoilProtocol
    import Foundation
    import HTTPTypes
    import Testing

    /// Outbound requests of the real program, with the networks and certificate authorities that its
    /// operator allows.
    ///
    /// The tests use back-channel logout as the request (OpenID Connect Back-Channel Logout §2.5).
    @Suite(.timeLimit(.minutes(10)))
    struct OutboundOptionTests {
        private static let host = "rp.example.test"

        /// The result of sending the logout token of a session.
        private struct Delivery {
            let requests: [LogoutReceiver.Request]
            let log: String
        }

        /// Ends a session whose client has a local receiver, and returns what the receiver got when the
        /// server had sent it.
        ///
        /// With a policy, the options of `unregistered edit`, the client registers itself under it.
        private static func delivery(
            certificateFor certified: String = host, at address: String = "127.0.0.1", policy: [String]? = nil,
            options: @escaping @Sendable (_ authority: String) -> [String]
        ) async throws -> Delivery {
            let authority = try TestAuthority()
            let receiver = LogoutReceiver(.status("200 OK"))
            return try await receiver.run(tls: try authority.serverContext(for: certified)) { port in
                try await Site.make { site in
                    let file = site.folder.path("authority.pem")
                    try Data(try authority.pem.utf8).write(to: URL(fileURLWithPath: file))
                    try await site.add(.alice)
                    try await site.addScope("photos.read", "See your photos and albums")
                    let logoutURI = "https://\(host):\(port)/backchannel"
                    let known: String?
                    if let policy {
                        known = nil
                        let edited = try await site.administer(["unregistered", "edit"] + policy)
                        #expect(edited.status == 0, "\(edited.errors)")
                    } else {
                        known = try await site.registerClient(options: ["--backchannel-logout-uri", logoutURI])
                    }
                    let names = try await NameService([host: address], in: site.folder)
                    let server = try await site.start(options: options(file), environment: names.environment)
                    return try await server.whileRunning {
                        let clientID =
                            if let known { known } else { try await register(at: site, logoutURI: logoutURI) }
                        var browser = UserAgent()
                        let request = ClientAuthorizationRequest(site, clientID)
                        let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
                        #expect(try await request.redeem(try page.code).status == 200)
                        let account = try await browser.open(site.issuer + "/account")
                        _ = try await browser.submit(try account.form(with: "ticket"), [:])
                        return try await Waiting.until("the delivery") {
                            let isOver =
                                !receiver.requests.isEmpty || server.errors.contains("back-channel logout failed")
                            return isOver ? Delivery(requests: receiver.requests, log: server.errors) : nil
                        }
                    }
                }
            }
        }

        /// Registers a native client at the registration endpoint, and returns its `client_id` (RFC 7591 §3).
        private static func register(at site: Site, logoutURI: String) async throws -> String {
            let metadata: [String: Any] = [
                "redirect_uris": ["http://127.0.0.1/callback"], "application_type": "native",
                "backchannel_logout_uri": logoutURI,
            ]
            var stranger = UserAgent()
            let response = try await stranger.send(
                .post, site.issuer + "/oauth2/register", headers: ["content-type": "application/json"],
                body: Array(try JSONSerialization.data(withJSONObject: metadata)))
            #expect(response.status == 201, "\(response.text)")
            let members = try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any]
            return try #require(members?["client_id"] as? String)
        }

        @Test func `with an allowed network and a certificate authority, a private host gets a logout token`()
            async throws
        {
            let delivery = try await Self.delivery { ["--outbound-network", "127.0.0.0/8", "--outbound-ca", $0] }
            let request = try #require(delivery.requests.first, "\(delivery.log)")
            #expect(request.head.lowercased().hasPrefix("post /backchannel http/1.1\r\n"))
            #expect(try FormParameters(parsing: request.body).pairs.map(\.name) == ["logout_token"])
        }

        @Test(
            arguments: [
                ([], "notPublic"), (["--outbound-ca"], "notPublic"),
                (["--outbound-network", "127.0.0.0/8"], "untrusted"),
                (["--outbound-network", "127.0.0.2/32", "--outbound-ca"], "notPublic"),
            ] as [([String], String)])
        func `without the network or the authority nothing is sent`(options: [String], reason: String) async throws {
            let delivery = try await Self.delivery { options.last == "--outbound-ca" ? options + [$0] : options }
            #expect(delivery.requests.isEmpty)
            #expect(delivery.log.contains(reason), "\(delivery.log)")
        }

        @Test func `an allowed network is closed to a client that registered itself, unless the owner names its host`()
            async throws
        {
            let policy = ["--accept", "registration", "--maximum-scope", "openid photos.read"]
            let options: @Sendable (String) -> [String] = {
                ["--outbound-network", "127.0.0.0/8", "--outbound-ca", $0]
            }
            let refused = try await Self.delivery(policy: policy, options: options)
            #expect(refused.requests.isEmpty)
            #expect(refused.log.contains("notPublic"), "\(refused.log)")
            let named = try await Self.delivery(policy: policy + ["--allowed-host", Self.host], options: options)
            let request = try #require(named.requests.first, "\(named.log)")
            #expect(try FormParameters(parsing: request.body).pairs.map(\.name) == ["logout_token"])
        }

        // RFC 9110 §4.3.4
        @Test func `a certificate of the authority for another host is refused`() async throws {
            let delivery = try await Self.delivery(certificateFor: "other.example.test") {
                ["--outbound-network", "127.0.0.0/8", "--outbound-ca", $0]
            }
            #expect(delivery.requests.isEmpty)
            #expect(delivery.log.contains("untrusted"), "\(delivery.log)")
        }

        @Test func `the metadata service of a cloud is never contacted`() async throws {
            let delivery = try await Self.delivery(at: "169.254.169.254") {
                ["--outbound-network", "127.0.0.0/8", "--outbound-network", "10.0.0.0/8", "--outbound-ca", $0]
            }
            #expect(delivery.requests.isEmpty)
            #expect(delivery.log.contains("notPublic"), "\(delivery.log)")
        }

        @Test(arguments: [
            (["10.0.0.1/8"], "--outbound-network: 10.0.0.1/8 has bits set after its prefix; write 10.0.0.0/8."),
            (["10.0.0.0/8", "10.0.0.0/8"], "--outbound-network: 10.0.0.0/8 is named twice."),
            (
                ["0.0.0.0/0"],
                "--outbound-network: 0.0.0.0/0 does not lie within one of the ranges that can be allowed: "
            ),
        ])
        func `an invalid network is refused before anything is created`(networks: [String], sentence: String)
            async throws
        {
            try await Site.make { site in
                let ended = try await site.administer(
                    ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:0"]
                        + networks.flatMap { ["--outbound-network", $0] })
                #expect(ended.status == 64)
                #expect(ended.errors.hasPrefix("Error: \(sentence)"), "\(ended.errors)")
                #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
            }
        }

        @Test(
            arguments: [
                (nil, "cannot read the file FILE (No such file or directory); check its name and permissions"),
                ("", "cannot use the file FILE: it contains no PEM certificate (-----BEGIN CERTIFICATE-----)"),
                (
                    "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n",
                    "cannot use the file FILE: it contains a private key; it must contain certificates only"
                ),
                (
                    "-----BEGIN CERTIFICATE-----\nMC4=\n-----END CERTIFICATE-----\n",
                    "cannot use the file FILE: certificate 1 is invalid"
                ),
                ("-----BEGIN CERTIFICATE-----\nMC4=\n", "cannot use the file FILE: certificate 1 is invalid"),
            ] as [(String?, String)])
        func `a file without certificates is refused by its name before anything is created`(
            contents: String?, reason: String
        ) async throws {
            try await Site.make { site in
                let file = site.folder.path("authority.pem")
                if let contents { try Data(contents.utf8).write(to: URL(fileURLWithPath: file)) }
                let ended = try await site.administer([
                    "serve", "--issuer", site.issuer, "--listen", "127.0.0.1:0", "--outbound-ca", file,
                ])
                #expect(ended.status == 3)
                let sentence = reason.replacing("FILE", with: file)
                #expect(ended.errors == "counterfoil-server: --outbound-ca: \(sentence)\n")
                #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
            }
        }
    }
#endif

#if os(Linux) || os(macOS)
    import CounterfoilClientTesting
    @_spi(Counterfoil) import CounterfoilProtocol
    import Foundation
    import HTTPTypes
    import TestSupport
    import Testing

    @testable import CounterfoilClient

    /// Tests of the local URL that a browser program receives instead of the authorization URL.
    @Suite(.timeLimit(.minutes(2)))
    struct LocalStartURLTests {
        /// A sign-in whose browser is a program that writes its arguments to a file, and what it opened.
        private struct Opened {
            let authorizationURL: BrowserURL
            let argument: String
            let run: Task<Credentials, any Error>
        }

        private static func open(at server: ScriptedAuthorizationServer, in directory: TemporaryDirectory) async throws
            -> Opened
        {
            let (program, arguments) = (directory.file("browser"), directory.file("argv"))
            try ShellProgram.write("printf '%s' \"$*\" > '\(arguments.path)'", to: program)
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.timeout = .seconds(100)
            signIn.browser = SystemBrowser(environment: ["BROWSER": program.path])
            let prepared = signIn
            let (events, report) = AsyncStream.makeStream(of: NativeSignIn.Event.self)
            let run = Task {
                defer { report.finish() }
                return try await prepared.run { report.yield($0) }
            }
            var url: BrowserURL?
            for await event in events {
                if case .opening(let opening) = event { url = opening }
                if case .browser(let launch) = event {
                    #expect(launch == .launched)
                    break
                }
            }
            return Opened(
                authorizationURL: try #require(url), argument: try String(contentsOf: arguments, encoding: .utf8),
                run: run)
        }

        private static func get(
            _ url: String, method: HTTPRequest.Method = .get
        ) async throws -> TransportResponse {
            try await StandardTransport().send(TransportRequest(EndpointURL(url), method: method))
        }

        // Every user of the device can read the arguments of a program.
        @Test func `the browser program receives a local URL that leads to the server once`() async throws {
            let directory = try TemporaryDirectory()
            try await ScriptedAuthorizationServer.run { server in
                let opened = try await Self.open(at: server, in: directory)
                #expect(opened.argument.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]{22}/) != nil)

                #expect(try await Self.get(opened.argument, method: .head).statusCode == 405)
                #expect(try await Self.get(opened.argument, method: .post).statusCode == 405)
                #expect(try await Self.get(String(opened.argument.dropLast())).statusCode == 404)
                #expect(try await Self.get(opened.argument + "?a=b").statusCode == 404)

                let start = try await Self.get(opened.argument)
                #expect(start.statusCode == 302)
                #expect(start.head.headerFields[.location] == opened.authorizationURL.rawValue)
                #expect(start.head.headerFields[.cacheControl] == "no-store")
                #expect(start.head.headerFields[HTTPField.Name("Referrer-Policy")!] == "no-referrer")
                #expect(start.body.isEmpty)

                let again = try await Self.get(opened.argument)
                #expect(again.statusCode == 410)
                #expect(String(decoding: again.body, as: UTF8.self).contains("This link was already used"))
                #expect(again.head.headerFields[.location] == nil)

                // The sign-in still waits, and the URL that it showed works.
                #expect(await ScriptedBrowser().open(opened.authorizationURL) == .launched)
                #expect(try await opened.run.value.user?.subject == "alice")
            }
        }

        @Test func `of many requests at once, one is redirected`() async throws {
            let directory = try TemporaryDirectory()
            try await ScriptedAuthorizationServer.run { server in
                let opened = try await Self.open(at: server, in: directory)
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<20 { group.addTask { try await Self.get(opened.argument).statusCode } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.count { $0 == 302 } == 1)
                #expect(statuses.count { $0 == 410 } == 19)
                opened.run.cancel()
                _ = await opened.run.result
            }
        }

        @Test(arguments: ["https://127.0.0.1/start/x", "http://id.example.com/start/x", "http://10.0.0.1/"])
        func `a local URL is http on loopback`(text: String) throws {
            let destination = try BrowserURL("https://id.example.com/authorize")
            #expect(throws: EndpointURL.Refusal.self) { try LocalStartURL(text, leadingTo: destination) }
        }

        @Test func `a launcher that knows nothing of it opens the URL of the server`() async throws {
            let destination = try BrowserURL("https://id.example.com/authorize")
            let opened = Mutex<[BrowserURL]>([])
            struct Launcher: BrowserLauncher {
                let opened: @Sendable (BrowserURL) -> Void
                func open(_ url: BrowserURL) async -> BrowserLaunch {
                    opened(url)
                    return .launched
                }
            }
            let receiver = try await LoopbackReceiver.listen()
            _ = await Launcher { url in opened.withLock { $0.append(url) } }.open(destination, startingAt: receiver)
            #expect(opened.withLock { $0 } == [destination])
            await receiver.close()
        }
    }
#endif

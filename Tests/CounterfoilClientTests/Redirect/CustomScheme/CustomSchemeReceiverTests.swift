#if os(Linux)
    import TestSupport
    import CounterfoilClient
    import CounterfoilProtocol
    import Foundation
    import Testing

    /// Tests of the receiver on an isolated desktop with real sockets, and in some tests with the openers of
    /// real desktops.
    @Suite(.timeLimit(.minutes(2)))
    struct CustomSchemeReceiverTests {
        private static func listen(
            _ uri: String, _ environment: [String: String]
        ) async throws -> CustomSchemeReceiver {
            let handler = RedirectHandler(program: try Product.client.executable.path, name: "Lightbox")
            return try await CustomSchemeReceiver.listen(
                at: CustomSchemeRedirectURI(uri), handler: handler, environment: environment)
        }

        private static func deliver(_ address: String, _ environment: [String: String]) -> RedirectHandoff.Outcome? {
            RedirectHandoff.deliver(["lightbox", "receive-redirect", address], environment: environment)
        }

        @Test func `a response arrives as one argument and ends the wait`() async throws {
            let desktop = try Desktop()
            let receiver = try await Self.listen("com.example.one:/callback", desktop.environment)
            #expect(receiver.redirectURI.rawValue == "com.example.one:/callback")
            let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
            receiver.expect(attempt.expectation)
            let answer = "com.example.one:/callback?code=c0de&state=\(try attempt.state())"
            #expect(Self.deliver(answer, desktop.environment) == .delivered)
            #expect(Self.deliver(answer, desktop.environment) == .ignored, "only one answer is taken")
            _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
            await receiver.close()
        }

        // Opens the URL with the programs that a browser uses.
        @Test(.enabled(if: !Desktop.openers.isEmpty, "neither xdg-open nor gio is installed"))
        func `the openers of the desktop deliver the response to the waiting program`() async throws {
            for (number, opener) in Desktop.openers.enumerated() {
                for folder in ["programs", "my programs & \"more\" %u"] {
                    let desktop = try Desktop()
                    // A program whose path contains blanks is started too.
                    let program = desktop.file(folder).appendingPathComponent("counterfoil")
                    try FileManager.default.createDirectory(
                        at: desktop.file(folder), withIntermediateDirectories: true)
                    try FileManager.default.createSymbolicLink(
                        at: program, withDestinationURL: try Product.client.executable)
                    // Some versions of xdg-open mistake a scheme with a digit for a file name.
                    let scheme = "com.example.opener." + String(repeating: "x", count: number + folder.count)
                    let receiver = try await CustomSchemeReceiver.listen(
                        at: CustomSchemeRedirectURI("\(scheme):/callback"),
                        handler: RedirectHandler(program: program.path, name: "Lightbox"),
                        environment: desktop.environment)
                    let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
                    receiver.expect(attempt.expectation)
                    let address = "\(scheme):/callback?code=c%2Fd%26%24(reboot)'\(number)&state=\(try attempt.state())"
                    let environment = desktop.environment
                    let opened = Task { try await DesktopProgram.run(opener + [address], environment: environment) }
                    let callback = try await receiver.callback(within: .seconds(60))
                    #expect(try callback.parameters.single("code") == "c/d&$(reboot)'\(number)")
                    #expect(try await opened.value.status == 0, "\(opener) \(folder)")
                    _ = try attempt.complete(with: callback)
                    await receiver.close()
                }
            }
        }

        @Test func `a message that is not the response does not end the wait`() async throws {
            let desktop = try Desktop()
            let receiver = try await Self.listen("com.example.strangers:/callback?tenant=x", desktop.environment)
            let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
            let state = try attempt.state()
            let base = "com.example.strangers:/callback?tenant=x"
            #expect(Self.deliver("\(base)&code=a&state=\(state)", desktop.environment) == .ignored, "not yet")
            receiver.expect(attempt.expectation)
            for stranger in [
                "\(base)&code=evil", "\(base)&code=evil&state=guess", "\(base)&code=evil&state=\(state)&state=\(state)",
                "com.example.strangers:/other?tenant=x&code=a&state=\(state)",
                "com.example.strangers:/callback?code=a&state=\(state)", "\(base)&code=%zz&state=\(state)", "\(base)",
            ] {
                #expect(Self.deliver(stranger, desktop.environment) == .ignored, "\(stranger)")
            }
            #expect(Self.deliver("com.example.other:/callback?code=a", desktop.environment) == .noReceiver)
            #expect(Self.deliver("\(base)&code=a&state=\(state)", desktop.environment) == .delivered)
            _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
            await receiver.close()
        }

        // Each listener waits for the lock on a thread of its own, and tasks need the threads of the pool meanwhile.
        @Test func `a lock that another program holds does not block other tasks`() async throws {
            let desktop = try Desktop()
            let environment = desktop.environment
            let lock = desktop.home.appendingPathComponent(".local/share/counterfoil/redirect.lock")
            try desktop.write("", to: lock)
            let descriptor = open(lock.path, O_RDWR | O_CLOEXEC)
            #expect(flock(descriptor, LOCK_EX) == 0)
            let count = 32
            let receivers = try await withThrowingTaskGroup(of: CustomSchemeReceiver.self) { group in
                for number in 0..<count {
                    group.addTask { try await Self.listen("com.example.pool\(number):/callback", environment) }
                }
                // A listener opens its socket before it waits for the lock.
                _ = try await Waiting.until("\(count) sockets") {
                    desktop.files(in: desktop.sockets).count >= count ? true : nil
                }
                #expect(desktop.files(in: desktop.applications) == [])
                close(descriptor)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(desktop.files(in: desktop.applications).count == count)
            for receiver in receivers { await receiver.close() }
            #expect(desktop.files(in: desktop.applications) == [])
        }

        // Both receive the response, and the state decides.
        @Test func `two sign-ins with the same scheme do not take each other's responses`() async throws {
            let desktop = try Desktop()
            let first = try await Self.listen("com.example.two:/callback", desktop.environment)
            let second = try await Self.listen("com.example.two:/callback", desktop.environment)
            let one = try AuthorizationAttempt.unasked(redirectURI: first.redirectURI)
            let other = try AuthorizationAttempt.unasked(redirectURI: second.redirectURI)
            first.expect(one.expectation)
            second.expect(other.expectation)
            let base = "com.example.two:/callback?code=a&state="
            #expect(Self.deliver(base + (try other.state()), desktop.environment) == .delivered)
            _ = try other.complete(with: try await second.callback(within: .seconds(60)))
            await second.close()
            #expect(desktop.files(in: desktop.applications) == ["counterfoil-redirect-com.example.two.desktop"])
            #expect(Self.deliver(base + (try one.state()), desktop.environment) == .delivered)
            _ = try one.complete(with: try await first.callback(within: .seconds(60)))
            await first.close()
            #expect(desktop.files(in: desktop.applications) == [])
        }

        @Test func `the settings of the desktop are restored`() async throws {
            let desktop = try Desktop()
            let former =
                "# mine\n[Default Applications]\nx-scheme-handler/com.example.former=other.desktop;\ntext/plain=vim.desktop\n"
            try desktop.write(former, to: desktop.file("dotfiles/mimeapps.list"))
            try desktop.write(
                "[Desktop Entry]\nType=Application\nName=x\nExec=true\n",
                to: desktop.applications.appendingPathComponent("other.desktop"))
            // Many users keep the file elsewhere and link to it. The link stays a link.
            try FileManager.default.createDirectory(
                at: desktop.choices.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                at: desktop.choices, withDestinationURL: desktop.file("dotfiles/mimeapps.list"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o640], ofItemAtPath: desktop.file("dotfiles/mimeapps.list").path)

            let receiver = try await Self.listen("com.example.former:/callback", desktop.environment)
            #expect(desktop.files(in: desktop.applications).count == 2)
            #expect(
                desktop.text(of: desktop.choices)?.contains(
                    "x-scheme-handler/com.example.former=counterfoil-redirect-com.example.former.desktop;other.desktop;\ntext/plain=vim.desktop\n"
                ) == true)
            await receiver.close()
            #expect(desktop.text(of: desktop.choices) == former)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: desktop.choices.path)
                    == desktop.file("dotfiles/mimeapps.list").path)
            let mode =
                try FileManager.default.attributesOfItem(
                    atPath: desktop.file("dotfiles/mimeapps.list").path)[.posixPermissions] as? Int
            #expect(mode == 0o640)
            #expect(desktop.files(in: desktop.applications) == ["other.desktop"])
            #expect(desktop.files(in: desktop.sockets) == [])
        }

        @Test func `files that did not exist are deleted, also after a cancelled wait`() async throws {
            let desktop = try Desktop(hasRuntimeFolder: false)
            let receiver = try await Self.listen("com.example.nothing:/callback", desktop.environment)
            #expect(desktop.files(in: desktop.applications).count == 1)
            #expect(desktop.text(of: desktop.choices) != nil)
            await #expect(throws: SignInError.timedOut) { try await receiver.callback(within: .milliseconds(20)) }
            #expect(desktop.files(in: desktop.applications) == [])
            #expect(desktop.text(of: desktop.choices) == nil)
            #expect(desktop.files(in: desktop.sockets) == [])

            let cancelled = try await Self.listen("com.example.nothing:/callback", desktop.environment)
            let wait = Task { try await cancelled.callback(within: .seconds(60)) }
            wait.cancel()
            await #expect(throws: SignInError.cancelled) { try await wait.value }
            #expect(desktop.files(in: desktop.applications) == [])
            #expect(
                Self.deliver("com.example.nothing:/callback?code=a&state=b", desktop.environment) == .noReceiver)
        }

        // Only this user can reach the socket.
        @Test func `the socket is private, and a folder with other permissions is refused`() async throws {
            let desktop = try Desktop()
            let receiver = try await Self.listen("com.example.private:/callback", desktop.environment)
            let names = desktop.files(in: desktop.sockets)
            #expect(names.count == 1)
            for (path, mode) in [(desktop.sockets.path, 0o700)]
                + names.map({ ("\(desktop.sockets.path)/\($0)", 0o600) })
            {
                let facts = try FileManager.default.attributesOfItem(atPath: path)
                #expect(facts[.posixPermissions] as? Int == mode, "\(path)")
            }
            await receiver.close()

            try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: desktop.sockets.path)
            let elsewhere = try await Self.listen("com.example.private:/callback", desktop.environment)
            #expect(desktop.files(in: desktop.sockets) == [], "the next folder is taken")
            await elsewhere.close()
        }

        @Test func `a long home path and slow or invalid connections do not prevent the response`() async throws {
            let desktop = try Desktop(home: String(repeating: "long/", count: 40), hasRuntimeFolder: false)
            let receiver = try await Self.listen("com.example.long:/callback", desktop.environment)
            let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
            receiver.expect(attempt.expectation)
            let base = "com.example.long:/callback?code="
            #expect(Self.deliver(base + String(repeating: "a", count: 40_000), desktop.environment) == .unusable)
            #expect(
                Self.deliver(
                    "\(base)a&state=\(try attempt.state())&session_state=\(String(repeating: "a", count: 20_000))",
                    desktop.environment)
                    == .delivered)
            _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
            await receiver.close()
        }

        @Test func `a desktop that cannot be configured is an error with a reason`() async throws {
            await #expect(throws: SignInError.self) { try await Self.listen("com.example.no:/callback", [:]) }
            let desktop = try Desktop()
            try desktop.write("in the way", to: desktop.home.appendingPathComponent(".local/share/applications"))
            let error = await #expect(throws: SignInError.self) {
                try await Self.listen("com.example.no:/callback", desktop.environment)
            }
            #expect("\(try #require(error))".contains(".local/share/applications"))
            #expect(desktop.files(in: desktop.sockets) == [])
        }
    }
#endif

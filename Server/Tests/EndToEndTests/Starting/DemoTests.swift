import Foundation
import TestSupport
import Testing

/// The command `demo`, whose commands are the first thing that many people try.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    /// What `demo` prints when it listens.
    private struct Hints {
        let password: String
        /// The commands `counterfoil login`.
        let logins: [[String]]
        /// The command that starts the sample API.
        let api: [String]
        /// The command that calls it.
        let call: [String]
        /// The URLs of the pages.
        let pages: [String]

        /// Reads the output; nil if it is not complete.
        init?(_ output: String) {
            let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let password = lines.first(where: { $0.hasPrefix("password:") }) else { return nil }
            self.password = password.dropFirst("password:".count).trimmingCharacters(in: .whitespaces)
            func arguments(of command: String) -> [[String]] {
                lines.filter { $0.hasPrefix(command) }.map { line in
                    // Only the value of --scope is in quotation marks.
                    line.split(separator: "\"").enumerated().flatMap { index, part in
                        index == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
                    }.dropFirst().map(\.self)
                }
            }
            logins = arguments(of: "counterfoil login ")
            pages = lines.filter { $0.hasPrefix("http") }.compactMap { $0.split(separator: " ").first.map(String.init) }
            guard let api = arguments(of: "photo-library serve ").first,
                let call = arguments(of: "counterfoil call ").first, logins.count == 2, pages.count == 3,
                lines.contains("counterfoil whoami")
            else { return nil }
            (self.api, self.call) = (api, call)
        }
    }

    @Test func `the demo accepts both kinds of unregistered apps, and its commands sign a user in`() async throws {
        try await Self.run { site, hints in
            var agent = UserAgent()
            let answer = try await agent.open("http://localhost:\(site.port)/.well-known/oauth-authorization-server")
            let metadata = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
            #expect(metadata["client_id_metadata_document_supported"] as? Bool == true)
            #expect(metadata["registration_endpoint"] as? String == "http://localhost:\(site.port)/oauth2/register")

            var registered: [Bool] = []
            for login in hints.logins {
                let ended = try await Self.signIn(by: login, hints, on: try Device(in: site.folder))
                registered.append(ended.errors.contains("This client was registered at "))
            }
            #expect(registered == [false, true])
        }
    }

    @Test func `the commands of the demo lead to the name of the user and to a response of the sample API`()
        async throws
    {
        try await Self.run { site, hints in
            let device = try Device(in: site.folder)
            let login = try #require(hints.logins.first)
            _ = try await Self.signIn(by: login, hints, on: device)
            let user = try await device.counterfoil("whoami")
            #expect(user.status == 0 && user.output.contains("Alice Andersen"), "\(user.errors)")

            // The port that the demo names can be in use; the audience stays as it is.
            let port = try ReservedPort()
            let listen = "127.0.0.1:\(port.number)"
            let (options, named) = (Array(hints.api.dropLast()), hints.api.last ?? "")
            #expect(
                options == [
                    "serve", "--issuer", "http://localhost:\(site.port)", "--audience", "http://\(named)", "--listen",
                ])
            let api = try RunningProgram(.photoLibrary, options + [listen], in: site.folder)
            try await api.whileRunning {
                _ = try await api.said("that it listens") { $0.output.contains("listens on") ? true : nil }
                #expect(hints.call == ["call", "http://\(named)/photos"])
                let photos = try await device.counterfoil("call", "http://\(listen)/photos")
                #expect(photos.status == 0 && photos.output.contains("First snow on the ridge"), "\(photos.errors)")
            }
        }
    }

    @Test func `the pages that the demo names ask the administrator to sign in`() async throws {
        try await Self.run { _, hints in
            #expect(hints.pages.map { URL(string: $0)?.path } == ["/account", "/apps", "/admin"])
            for page in hints.pages {
                var browser = UserAgent()
                let answer = try await browser.open(page)
                #expect(answer.body.contains("type=\"password\""), "\(page) has the status \(answer.status)")
            }
        }
    }

    /// Runs the demo, whose output is complete.
    private static func run(_ body: (Site, Hints) async throws -> Void) async throws {
        try await Site.make { site in
            let demo = try RunningProgram(
                .server, ["demo", "--port", String(site.port)], environment: ["TMPDIR": site.folder.url.path],
                in: site.folder)
            try await demo.whileRunning {
                try await body(site, try await demo.said("its commands") { Hints($0.errors + $0.output) })
            }
        }
    }

    /// Signs the user in, as the demo says.
    private static func signIn(by command: [String], _ hints: Hints, on device: Device) async throws -> EndedProgram {
        let alice = Account(name: "alice", fullName: "Alice Andersen", password: hints.password)
        let login = try device.begin(command + ["--timeout", "60"])
        return try await login.whileRunning {
            var browser = UserAgent()
            _ = try await alice.allow(try await device.openedAddress(), in: &browser)
            let ended = try await login.ended()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.hasPrefix("Signed in at http://localhost:"))
            return ended
        }
    }
}

import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of records that cannot be read, and of records of other versions of this program.
@Suite(.timeLimit(.minutes(5)))
struct DamagedRecordTests {
    /// A file with a damaged record under `default` and a sound one under `work`.
    private static let file = """
        Y291bnRlcmZvaWwgdG9rZW5zIDEga2V5LWZpbGUKZGVmZ2hpamtsbW5vMzmsAxqGJPpNQGWT+AEPmyO3an6pVtEolZfVEZblyxLF1H3iYDDsa4\
        +YWgXfJ7OFKQHArVorFhGPuMa5l83mwHHWg1SmKAlp/Q2ECifDX4ENNFx+zabgkLSrYfFLchkX/RLrN10owTTDme2Lk1fgoUtk6VWuHfFmxRrp\
        3qz4OqtZ0/X+XWsVGr4rEVD82W674o6UMTkStOpByyl40EmXlvt4TTP5vqaMBTnppYUWkKn/vY7jTepg9g9bQgH0yXL3vXVR39hPN0M1HixadV\
        jBRTUr+1TvAk/0gVFvkoa8I700RJPCkucZSnbONZieHO6DY7R+4cqivPb60mdHAEyf/B4A/vIcXf2503v0voPbY4KCd9ILtUo4k/r/3bfO+wQ=
        """

    private static func write(to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try EncryptedFileTokenStoreTests().write(Self.file, to: file)
    }

    @Test func `a damaged record is listed, replaced and removed`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("tokens")
        let work = try #require(ProfileName("work"))
        let damaged = TokenStoreError.damaged(location: file.path)
        for replaces in [true, false] {
            try Self.write(to: file)
            let store = EncryptedFileTokenStore(file: file, placement: .besideTheFile)
            await #expect(throws: damaged) { try await store.record(of: .standard) }
            let profiles = try await store.profiles()
            #expect(profiles.map(\.name) == [.standard, work])
            #expect(profiles.first?.content == .failure(damaged))
            #expect(try profiles.last?.content.get().clientID.rawValue == "lightbox")
            // A refresh of the record that was there before changes nothing.
            await #expect(throws: damaged) {
                try await store.replace(
                    TokenRecord(EncryptedFileTokenStoreTests.credentials()), with: nil, in: .standard)
            }
            if replaces {
                let credentials = try EncryptedFileTokenStoreTests.credentials("fresh")
                let session = TokenSession(ofAnyClientIn: store)
                #expect(try await session.adopt(credentials) == credentials)
                #expect(try await session.credentials() == credentials)
            } else {
                #expect(try await store.remove(.standard))
                #expect(try await store.profiles().map(\.name) == [work])
            }
        }
    }

    @Test func `signing out deletes a damaged record`() async throws {
        let directory = try TemporaryDirectory()
        try Self.write(to: directory.file("tokens"))
        let store = EncryptedFileTokenStore(file: directory.file("tokens"), placement: .besideTheFile)
        let session = TokenSession(
            issuer: try Issuer("https://id.example.com"), clientID: try #require(ClientIdentifier("lightbox")),
            store: store)
        await #expect(throws: SessionError.self) { try await session.credentials() }
        await #expect(throws: SessionError.self) { try await session.signOut() }
        await #expect(throws: SessionError.notSignedIn(.standard)) { try await session.credentials() }
    }

    @Test func `the command line lists, replaces and removes a damaged record`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let directory = try TemporaryDirectory()
            try Self.write(to: directory.file(".local/share/counterfoil/tokens"))
            let listed = try await CommandLineTool.run(["profiles"], home: directory.url)
            #expect(listed.status == 0)
            #expect(listed.output.contains("default: the stored data in "))
            #expect(listed.output.contains("work: https://id.example.com (lightbox, openid photos.read)"))
            let removed = try await CommandLineTool.run(["logout"], home: directory.url)
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(
                removed.output
                    == "Signed out: the token was deleted here. It could not be read: the refresh token stays valid at the "
                    + "server until it expires or you disconnect the app in your account.\n")
            let left = try await CommandLineTool.run(["profiles"], home: directory.url)
            #expect(!left.output.contains("default"))

            try Self.write(to: directory.file(".local/share/counterfoil/tokens"))
            let login = try await CommandLineTool.run(
                ["login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print"],
                home: directory.url
            ) { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                Task { _ = await ScriptedBrowser().open(url) }
            }
            #expect(login.status == 0, "\(login.errors)")
            #expect(try await CommandLineTool.run(["token"], home: directory.url).status == 0)
        }
    }

    // MARK: Other versions

    private static func decoded(_ json: String) throws -> TokenRecord {
        try TokenRecord(stored: Data(json.utf8), at: "test")
    }

    private static func record(_ members: String) -> String {
        """
        {"version":1,"revision":"r","future":{"a":[1]},"credentials":{"issuer":"https://id.example.com",
         "client_id":"lightbox","scope":"openid","access_token":"a","future":true\(members)}}
        """
    }

    @Test func `unknown members are ignored, and missing ones have defaults`() throws {
        let record = try Self.decoded(Self.record(""))
        #expect(record.credentials.accessToken.exposed == "a")
        #expect(record.credentials.apiOrigins.isEmpty)
        #expect(record.credentials.authentication == .none)
        #expect(!record.credentials.isSelfRegistered)
        let user = try Self.decoded(Self.record(#","person":{"subject":"alice","name":"Alice","future":1}"#))
        #expect(user.credentials.user?.subject == "alice")
        #expect(user.credentials.user?.name == "Alice")
    }

    @Test func `acr and amr are stored, and a record without them is readable`() throws {
        let old = try Self.decoded(Self.record(#","person":{"subject":"alice"}"#)).credentials.user
        #expect(old == Credentials.User(subject: "alice"))
        let user = Credentials.User(
            subject: "alice", authenticationContext: "urn:example:gold", authenticationMethods: ["pwd", "otp"])
        #expect(try JSONDecoder().decode(Credentials.User.self, from: JSONEncoder().encode(user)) == user)
    }

    @Test func `a built-in vendor profile is stored by name and follows this version of the program`() throws {
        let server = try VendorServer(.zoho, at: "eu")
        let json = String(decoding: try JSONEncoder().encode(server), as: UTF8.self)
        #expect(json.utf8.count < 100)
        #expect(try JSONDecoder().decode(VendorServer.self, from: Data(json.utf8)) == server)
    }

    @Test func `a custom vendor profile is stored whole, and members that it lacks have defaults`() throws {
        var custom = ServerProfile.fotoware
        custom.behavior.errors.transient = ["busy"]
        for name in ["fotoware", "archive"] {
            custom.name = name
            let server = try VendorServer(custom, at: "photos.example.com")
            let coded = try JSONEncoder().encode(server)
            #expect(try JSONDecoder().decode(VendorServer.self, from: coded) == server)
        }
        let old = #"""
            {"host":"photos.example.com","custom_profile":{"name":"archive","title":"Archive","future":1,
             "location":{"issuer":{"_0":"https://{host}"}},"redirect":{"loopback":"http://127.0.0.1/callback"},
             "behavior":{"scopeSeparator":",","tokenResponse":{"path":["data"]},"errors":{"pause":5},
              "future":{"x":1}}}}
            """#
        let server = try JSONDecoder().decode(VendorServer.self, from: Data(old.utf8))
        #expect(server.profile.behavior.scopeSeparator == ",")
        #expect(server.profile.behavior.earlyRefresh == ServerBehavior.standard.earlyRefresh)
        #expect(server.profile.behavior.tokenResponse.path == ["data"])
        #expect(server.profile.behavior.errors.pause == 5)
        #expect(server.profile.redirect.takesCustomScheme)
    }

    @Test func `every member of a custom profile is stored`() throws {
        func check(_ value: some Encodable) throws {
            let json = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any])
            #expect(Set(json.keys) == Set(Mirror(reflecting: value).children.compactMap(\.label)))
        }
        var profile = ServerProfile.zoho
        profile.behavior.tokenResponse.successMember = "ok"
        try check(profile)
        try check(profile.redirect)
        try check(profile.behavior)
        try check(profile.behavior.tokenResponse)
        try check(profile.behavior.errors)
    }

    @Test func `a built-in profile that this version does not know makes only its own record unreadable`() {
        let server = #","server":{"name":"vendor-of-the-future","host":"id.example.com"}"#
        #expect(throws: TokenStoreError.damaged(location: "test")) { try Self.decoded(Self.record(server)) }
    }
}

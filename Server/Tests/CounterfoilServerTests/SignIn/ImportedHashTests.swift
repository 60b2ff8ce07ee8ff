@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// The sign-in of imported users, whose password hashes other programs have made.
struct ImportedHashTests {
    /// Hashes of ``TestServer/password``, which need no library of the system.
    ///
    /// passlib 1.7.4 has made them, with argon2-cffi for Argon2; Django 5.2.19 has made the one of `pbkdf2_sha256`.
    static let hashes = [
        "$argon2id$v=19$m=65536,t=3,p=4$Q+g9pzSmFGIMISSkNCYkJA$w338SKyVHv9NEAO8jMvKQxbQ5P4FAiYfyidkV/eUvVM",
        "$argon2i$v=19$m=1024,t=2,p=2$6p3TOocwJkSI0ToHYAzhvA$EmnNktH/Uinuh1qxr4fxE4HlBnyMY02yEyM7fT3VH08",
        "$argon2d$v=19$m=1024,t=2,p=1$glDKGWOsVYqx9l4rJSSEcA$GTo+xXgCXGUQHfEyIXSpgk3GnX9Ahsh11fy/u8egdR4",
        "$scrypt$ln=10,r=8,p=1$hXBOSUkJwfi/t7Y2JiSEkA$dycNRlGsDTc7bV3Xls2GmhocnggmV1QOGqQ6vCmz0PM",
        "$pbkdf2$1000$2PvfW8uZc25tjfE.B.DcWw$jnIfJ.qLxk2QdUO35Ykt9OBOSrs",
        "$pbkdf2-sha256$1000$zHnPOQcAYCyl9J6TUiplLA$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU",
        "$pbkdf2-sha512$1000$VQoBwDhnrBWCkHIOQahVyg$SBPcQlTms16vvWsRBo5/f5ZvkCTsuPBgOmqRvbUHofW1HSsyYpWg9hKcMDzL2"
            + ".G2Mk4hUQLPxL.06NJDz4YP5A",
        "pbkdf2_sha256$1000000$seasalt2Wq9$gHm8UH+qG/j3qQkGsiVpT49Db2JkQzgWRfzM4z9OVRI=",
    ]

    /// Hashes of ``TestServer/password`` that libxcrypt verifies.
    ///
    /// passlib 1.7.4 has made those of bcrypt, sha512crypt and sha256crypt, and libxcrypt 4.4 the others.
    static let cryptHashes = [
        "$2b$04$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPygdq",
        "$2a$05$ELabZzejCwa0aq5dJ0V0tO/P95hpllPZ2vSbT3okGnQRx2Q8Q/DS6",
        "$2y$04$QU76w6sHHlVeK068vydDBeOEzgqkqY/nQxcleGEmkv/2e.goZ9v4a",
        "$6$rounds=1000$2T8k5gMOUEcetHc3$oKJNCj3wysbnY9k.c.SgstfYK02OmNUa/xbEaR9DUgBwA.hd5DTe5VHuC2QqiQeq2admEZ8CDkGY"
            + "qdehtoeOg/",
        "$6$vw2Hqw/ust8RSseu$0ko8bVmatHnk4Drb.CjPfb3xsD0fZonR/Uz.ZPdGhuj1uzZdYE9.NDdkE12rMFlEm1g8Nhrdgv/LfnOmBqgd41",
        "$5$rounds=1000$t7jlmLbnnxYpZZd4$TWecfhzaBAGJRW60HDRiz6KsxAcuboxutXK0JTSoxD/",
        "$y$j75$f5F/HYkscTJgGTzTulLgw/$q3G6359eX2XSdtwAf5ABvOcrqC06V.gWlUeqNO.K6gC",
        "$y$j9T$viev.6nMncw.4M.CN7UZR0$7S.yeeGu9lFSkartF4IZU0YlNZGAc3YGauWSDGoLfe0",
        "$gy$j75$HCPj16cg1TyaJXg89sCgB.$kmG92SJjgfB45zu49IAhV1o.gaYdgrRCXV979bU50g7",
        "$7$BU..../....firn7beGrTWEdqnkd6O2y0$kg1tf1Kuvr54Lj7j.aBtj/pneZlgd66IgZLix36akA3",
    ]

    /// Imports the user carol with a hash, and returns the result.
    private static func `import`(_ hash: String, into desk: AdministrationDesk) async throws -> [String: Any] {
        let users = [["sub": "auth0|42", "username": "carol", "password_hash": hash]]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: ["users": users]), as: UTF8.self)
        let reply = try await desk.send(.post, "/user-records", as: try await desk.token(), json: json)
        #expect(reply.status == .ok)
        return try #require((try reply.members["results"] as? [[String: Any]])?.first)
    }

    private static func carol(in desk: AdministrationDesk) async throws -> User {
        let username = try #require(Username("carol"))
        return try #require(try await desk.test.store.user(named: username))
    }

    @Test(arguments: hashes)
    func `the first right password of an imported user replaces the hash`(_ hash: String) async throws {
        try await Self.expectSignIn(with: hash)
    }

    #if os(Linux)
        @Test(arguments: cryptHashes)
        func `the first right password replaces a hash of crypt(5)`(_ hash: String) async throws {
            try await Self.expectSignIn(with: hash)
        }
    #else
        @Test(arguments: cryptHashes)
        func `a hash of crypt(5) is refused without libxcrypt, with a remedy`(_ hash: String) async throws {
            let refused = try await Self.import(hash, into: try await AdministrationDesk())
            #expect("\(refused["errors"] ?? "")".contains("libxcrypt"))
        }
    #endif

    private static func expectSignIn(with hash: String) async throws {
        let desk = try await AdministrationDesk()
        #expect(try await Self.import(hash, into: desk)["outcome"] as? String == "created")
        var browser = desk.test.browser()
        for wrong in [TestServer.password + " ", String(TestServer.password.dropLast())] {
            #expect(try await browser.signInToConsole(username: "carol", password: wrong).status == .badRequest)
        }
        #expect(try await carol(in: desk).passwordHash?.exposed == hash)
        let page = try await browser.signInToConsole(username: "carol")
        _ = try page.accountPage
        let renewed = try await carol(in: desk)
        #expect(renewed.passwordHash?.exposed.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$") == true)
        #expect(renewed.id.rawValue == "auth0|42")
        var other = desk.test.browser(source: "192.0.2.2")
        _ = try await other.signInToConsole(username: "carol").accountPage
        #expect(try await carol(in: desk) == renewed)
    }

    /// The hash of "cafe" with a separate accent and " au lait", by passlib.
    private static let hashOfTypedForm =
        "$pbkdf2-sha256$1000$33vP.X8PoXSO8b5XivF.7w$pYiaoxPkwHvkiHqAD13XfRFKBlCdtD/gFMkg7FbD7Sg"

    // Another program hashes the password as it was typed.
    @Test func `an imported hash of a decomposed letter is found as it was typed`() async throws {
        let desk = try await AdministrationDesk()
        #expect(try await Self.import(Self.hashOfTypedForm, into: desk)["outcome"] as? String == "created")
        var browser = desk.test.browser()
        _ = try await browser.signInToConsole(username: "carol", password: "cafe\u{301} au lait").accountPage
        var other = desk.test.browser(source: "192.0.2.2")
        _ = try await other.signInToConsole(username: "carol", password: "caf\u{E9} au lait").accountPage
    }

    // The second one finds that the first has replaced the hash.
    @Test func `two first sign-ins of an imported user at once both succeed`() async throws {
        let store = TestStore()
        let desk = try await AdministrationDesk(store: store)
        #expect(try await Self.import(Self.hashes[5], into: desk)["outcome"] as? String == "created")
        store.before(.replacePasswordHash) {
            var other = desk.test.browser(source: "192.0.2.2")
            _ = try? await other.signInToConsole(username: "carol")
        }
        var browser = desk.test.browser()
        _ = try await browser.signInToConsole(username: "carol").accountPage
        #expect(store.calls(of: .replacePasswordHash) == 2)
    }

    // Every kind of malformed hash, and each limit, with a part of the explanation.
    @Test(arguments: [
        ("", "must be a hash"), ("secret", "must be a hash"), ("$1$salt$hash", "must be a hash"),
        ("$2x$04$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPygdq", "must be a hash"),
        ("argon2$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "must be a hash"),
        ("scrypt$salt$16384$8$1$aGFzaA==", "must be a hash"), ("bcrypt_sha256$$2b$12$a", "must be a hash"),
        ("$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ", "form"), ("$argon2id$v=18$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "form"),
        ("$argon2id$v=19$t=1,m=8,p=1$c2FsdHNhbHQ$aGFzaA", "form"),
        ("$argon2id$v=19$m=08,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "form"),
        ("$argon2id$v=19$m=8,t=0,p=1$c2FsdHNhbHQ$aGFzaA", "form"),
        ("$argon2id$v=19$m=8,t=1,p=2$c2FsdHNhbHQ$aGFzaA", "form"),
        ("$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ=$aGFzaA", "form"), ("$argon2id$v=19$m=8,t=1,p=1$$", "form"),
        ("$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaB", "form"),
        ("$argon2id$v=19$m=99999999999,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "form"),
        ("$argon2id$v=19$m=262145,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "at most 262144 KiB"),
        ("$argon2id$v=19$m=65536,t=17,p=1$c2FsdHNhbHQ$aGFzaA", "at most 1048576"),
        ("$argon2id$v=19$m=65536,t=1,p=65$c2FsdHNhbHQ$aGFzaA", "at most 64"),
        ("$scrypt$ln=18,r=8,p=2$c2FsdA$aGFzaGhhc2hoYXNoaGFzaA", "at most 2097152"),
        ("$scrypt$ln=63,r=8,p=1$c2FsdA$aGFzaGhhc2hoYXNoaGFzaA", "at most 2097152"),
        ("$scrypt$ln=1,r=4294967295,p=1$c2FsdA$aGFzaGhhc2hoYXNoaGFzaA", "at most 2097152"),
        ("$scrypt$ln=10,r=8,p=1$$aGFzaGhhc2hoYXNoaGFzaA", "form"), ("$scrypt$ln=0,r=8,p=1$c2FsdA$aGFzaA", "form"),
        ("$pbkdf2-sha256$2000001$c2FsdA$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU", "at most 2000000 rounds"),
        ("$pbkdf2-sha256$0$c2FsdA$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU", "form"),
        ("$pbkdf2-sha256$1000$c2FsdA$c2FsdA", "form"), ("$pbkdf2-sha256$1000$c2FsdA", "form"),
        ("$pbkdf2-sha256$1000$c2Fs+A$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU", "form"),
        ("pbkdf2_sha256$1000$$gHm8UH+qG/j3qQkGsiVpT49Db2JkQzgWRfzM4z9OVRI=", "form"),
        ("pbkdf2_sha256$1000$salt$gHm8UH+qG/j3qQkGsiVpT49Db2JkQzgWRfzM4z9OVRI", "form"),
        ("$2b$15$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPygdq", "at most 14"),
        ("$2b$03$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPygdq", "form"),
        ("$2b$04$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPygd", "form"),
        ("$2b$04$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPyg-q", "form"),
        ("$6$rounds=1000001$salt$" + String(repeating: "a", count: 86), "at most 1000000 rounds"),
        ("$6$rounds=999$salt$" + String(repeating: "a", count: 86), "form"), ("$6$salt$short", "form"),
        ("$6$" + String(repeating: "s", count: 17) + "$" + String(repeating: "a", count: 86), "form"),
        ("$5$salt$" + String(repeating: "a", count: 42), "form"),
        ("$y$jFT$salt$" + String(repeating: "a", count: 43), "at most 2097152"),
        ("$y$k9T$salt$" + String(repeating: "a", count: 43), "form"),
        ("$y$j9T.$salt$" + String(repeating: "a", count: 43), "form"),
        ("$y$j9T$$" + String(repeating: "a", count: 43), "form"),
        ("$7$zzzzzzzzzzzsalt$" + String(repeating: "a", count: 43), "at most 2097152"),
        ("$7$B$" + String(repeating: "a", count: 43), "form"),
        ("$2b$04$BPiBS09jrLmH9imDbp/wmudWqJZeELH/w.nAsMx34TTDwhdPPygdq\n", "form"),
        ("$6$sält$" + String(repeating: "a", count: 86), "form"),
        ("$6$" + String(repeating: "a", count: 400), "form"),
    ])
    func `a hash that is malformed or too expensive is refused and explained`(
        _ hash: String, _ part: String
    ) async throws {
        let desk = try await AdministrationDesk()
        let result = try await Self.import(hash, into: desk)
        #expect(result["outcome"] as? String == "refused")
        let errors = try #require(result["errors"] as? [[String: String]])
        #expect(errors.map { $0["pointer"] } == ["/password_hash"])
        let detail = try #require(errors.first?["detail"])
        #expect(detail.contains(part), "\(detail)")
        #expect(hash.isEmpty || !detail.contains(hash))
        let username = try #require(Username("carol"))
        #expect(try await desk.test.store.user(named: username) == nil)
    }

    // A newer version, or a change of the file, has stored it.
    @Test(arguments: [
        "$new$hash", "$argon2id$v=19$m=4294967295,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "$2b$31$", "$", "*",
        "$6$rounds=999999999$salt$" + String(repeating: "a", count: 86),
    ])
    func `a stored hash of an unknown form never signs in, and costs what a wrong password costs`(
        _ hash: String
    ) async throws {
        let verified = Mutex<[PasswordHash]>([])
        let test = try await TestServer(hasher: PasswordHasher { hash in verified.withLock { $0.append(hash) } })
        let carol = User(
            username: try #require(Username("carol")), email: nil, displayName: "Carol",
            passwordHash: PasswordHash(encoded: hash), createdAt: test.clock.now)
        #expect(try await test.store.addUser(carol) == .added)
        var browser = test.browser()
        #expect(try await browser.signInToConsole(username: "carol").status == .badRequest)
        #expect(try await browser.signInToConsole(username: "nobody").status == .badRequest)
        #expect(verified.withLock { Set($0.map(\.exposed)).count } == 1)
        #expect(try await test.store.user(carol.id)?.passwordHash?.exposed == hash)
    }
}

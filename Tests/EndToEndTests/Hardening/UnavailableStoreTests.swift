import Foundation
import Testing

/// A database that cannot be written just now: people are told so, and nothing is half done.
@Suite(.timeLimit(.minutes(10)))
struct UnavailableStoreTests {
    @Test func `a locked database answers 503, and the same page works when it is free again`() async throws {
        try await Site.run { site, clientID in
            let request = ApplicationRequest(site, clientID)
            var browser = UserAgent()
            let consent = try await Person.alice.signIn(request.url, in: &browser)
            let allow = try consent.form(withButton: "allow")

            let refused = try await DatabaseLock.hold(site) { try await browser.submit(allow, ["decision": "allow"]) }
            #expect(refused.status == 503)
            #expect(refused.header("retry-after") == "5")
            #expect(refused.heading == "The service cannot do this right now")
            #expect(refused.goesOnTo == nil)

            // Had the answer been recorded, this would say that it was given already.
            let goOn = try await browser.submit(allow, ["decision": "allow"])
            let code = try goOn.code

            let token = try await DatabaseLock.hold(site) { try await request.redeem(code) }
            #expect(token.status == 503)
            #expect(token.header("retry-after") == "5")
            #expect(token.header("content-type") == "application/json")
            #expect(token.body.contains("\"error\":\"temporarily_unavailable\""))
            #expect(!token.body.contains("SQLite"))

            #expect(try await request.redeem(code).status == 200)
        }
    }

    @Test func `an administration command on a locked database may be tried again`() async throws {
        try await Site.run { site, _ in
            let ended = try await DatabaseLock.hold(site) {
                try await site.administer(["scope", "create", "photos.write", "--description", "Change your photos"])
            }
            #expect(ended.status == 6)
            #expect(ended.errors.hasPrefix("counterfoil-server: "))
            #expect(ended.errors.contains("locked"))
            try await site.addScope("photos.write", "Change your photos")
        }
    }

    @Test func `a full disk answers 503, and everything of before is there when it has room again`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.addApplication()
            let request = ApplicationRequest(site, clientID)
            try await site.serving {}

            var browser = UserAgent()
            var signedIn = browser
            // The log of the database may grow for some sign-ins and no further.
            try await site.start(fileSizeLimit: 96 * 1024).whileRunning {
                var answer = try await Person.alice.signIn(request.url, in: &browser)
                for _ in 0..<100 where answer.status == 200 {
                    signedIn = browser
                    answer = try await Person.alice.signIn(request.url + "&prompt=login", in: &browser)
                }
                #expect(answer.status == 503)
                #expect(answer.header("retry-after") == "5")
                #expect(answer.newCookies.isEmpty)
                #expect(try await browser.open(site.issuer + "/healthz").status == 200)
            }
            try await site.serving {
                let consent = try await signedIn.open(request.url)
                let goOn = try await signedIn.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
                #expect(try await request.redeem(try goOn.code).status == 200)
            }
        }
    }
}

/// Another program that writes to the database of a site and does not come to an end.
private enum DatabaseLock {
    /// The lock cannot be taken.
    struct NotTaken: Error {}

    /// Holds the lock for the time of `body`.
    ///
    /// A writer of a database with a log has the byte 120 of its index locked (the WAL-mode file format, §2.3.3).
    static func hold<Result>(_ site: Site, _ body: () async throws -> Result) async throws -> Result {
        let descriptor = open(site.dataDirectory + "/counterfoil.db-shm", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw NotTaken() }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        guard fcntl(descriptor, F_SETLK, &lock) == 0 else { throw NotTaken() }
        return try await body()
    }
}

import Foundation
import TestSupport
import Testing

/// A database that cannot be written for a while: users get an error, and nothing is partly written.
@Suite(.timeLimit(.minutes(10)))
struct UnavailableStoreTests {
    @Test func `a locked database gives 503, and the same page works when it is unlocked`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let consent = try await Account.alice.signIn(request.url, in: &browser)
            let allow = try consent.form(withButton: "allow")

            let refused = try await DatabaseLock.hold(site) { try await browser.submit(allow, ["decision": "allow"]) }
            #expect(refused.status == 503)
            #expect(refused.header("retry-after") == "5")
            #expect(refused.heading == "The service is unavailable right now")
            #expect(refused.continuationURL == nil)

            // If the first answer had been recorded, this request would report that it was already
            // answered.
            let proceed = try await browser.submit(allow, ["decision": "allow"])
            let code = try proceed.code

            let token = try await DatabaseLock.hold(site) { try await request.redeem(code) }
            #expect(token.status == 503)
            #expect(token.header("retry-after") == "5")
            #expect(token.header("content-type") == "application/json")
            #expect(token.body.contains("\"error\":\"temporarily_unavailable\""))
            #expect(!token.body.contains("SQLite"))

            #expect(try await request.redeem(code).status == 200)
        }
    }

    @Test func `an administration command on a locked database can be retried`() async throws {
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

    @Test func `a full disk gives 503, and all earlier records exist when it has space again`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            let request = ClientAuthorizationRequest(site, clientID)
            try await site.serving {}

            var browser = UserAgent()
            var signedIn = browser
            // The WAL can grow for a few sign-ins only.
            try await site.start(fileSizeLimit: 256 * 1024).whileRunning {
                var answer = try await Account.alice.signIn(request.url, in: &browser)
                for _ in 0..<100 where answer.status == 200 {
                    signedIn = browser
                    answer = try await Account.alice.signIn(request.url + "&prompt=login", in: &browser)
                }
                #expect(answer.status == 503)
                // The commit failed while it was written, so its result is unknown.
                #expect(answer.header("retry-after") == "1")
                #expect(answer.newCookies.isEmpty)
                #expect(try await browser.open(site.issuer + "/livez").status == 200)
                let body = try await Waiting.until("that the server is not ready") {
                    let ready = try await browser.open(site.issuer + "/readyz")
                    return ready.status == 503 ? ready.body : nil
                }
                #expect(body == #"{"status":"degraded","store":"read-only"}"#)
                #expect(try await browser.open(site.issuer + "/readyz/process").status == 200)
            }
            try await site.serving {
                let consent = try await signedIn.open(request.url)
                let proceed = try await signedIn.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
                #expect(try await request.redeem(try proceed.code).status == 200)
            }
        }
    }
}

/// A lock that another program holds on the database of a site.
private enum DatabaseLock {
    /// An error: the lock is not available.
    struct NotTaken: Error {}

    /// Holds the lock until `body` returns.
    ///
    /// A writer of a WAL-mode database locks byte 120 of the WAL index (the WAL-mode file format, §2.3.3).
    static func hold<Result>(_ site: Site, _ body: () async throws -> Result) async throws -> Result {
        let descriptor = open(site.dataDirectory + "/counterfoil.db-shm", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw NotTaken() }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        // The server may be writing at this moment, for example its heartbeat, so this waits for the lock.
        while fcntl(descriptor, F_SETLKW, &lock) != 0 { guard errno == EINTR else { throw NotTaken() } }
        return try await body()
    }
}

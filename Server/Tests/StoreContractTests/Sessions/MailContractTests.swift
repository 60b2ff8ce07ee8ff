import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: mails and the links in them")
struct MailContractTests {
    /// A user with an address, who asks for links.
    private struct Sender {
        let store: any AuthorizationServerStore
        let user: User

        init(_ store: any AuthorizationServerStore) async throws {
            self.store = store
            user = try User.named("ada", email: "ada@example.com")
            #expect(try await store.addUser(user) == .added)
        }

        static func mail(of user: User, at time: Date = World.now) -> NewMail {
            NewMail(
                id: MailIdentifier(), userID: user.id, sealed: [1, 2, 3], createdAt: time, expires: time + 86_400)
        }

        /// Queues a mail with a link, and returns the secret.
        @discardableResult
        func queue(
            at time: Date = World.now, to address: String = "ada@example.com",
            replacing former: String = "ada@example.com"
        ) async throws -> (outcome: BeginEmailVerificationOutcome, secret: MailLinkSecret) {
            let secret = MailLinkSecret()
            let verification = EmailVerification(
                userID: user.id, email: try #require(EmailAddress(address)), replacing: EmailAddress(former),
                digest: ArtefactDigest(of: secret), expires: time + 3600)
            let outcome = try await store.beginEmailVerification(
                verification, sending: Self.mail(of: user, at: time), recording: [])
            return (outcome, secret)
        }

        func verify(_ secret: MailLinkSecret, at time: Date = World.now) async throws -> Bool {
            try await store.verifyEmail(
                of: user.id, proving: ArtefactDigest(of: secret), at: time, recording: [])
        }

        func take(at seconds: TimeInterval, limit: Int = 10) async throws -> [QueuedMail] {
            try await store.takeMails(
                dueAt: World.now + seconds, until: World.now + seconds + 120, limit: limit)
        }

        var isVerified: Bool? {
            get async throws { try await store.user(user.id)?.profile.isEmailVerified }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a mail is taken by one server, and again after its lease`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            for second in 0..<3 { try await sender.queue(at: World.now + Double(second)) }
            #expect(try await store.mailBacklog() == MailBacklog(count: 3, oldest: World.now))
            #expect(try await sender.take(at: -1).isEmpty)
            let first = try #require(try await sender.take(at: 5, limit: 1).first)
            #expect(first.mail.createdAt == World.now && first.mail.sealed == [1, 2, 3] && first.attempts == 0)
            #expect(first.mail.userID == sender.user.id && first.mail.expires == World.now + 86_400)
            #expect(try await sender.take(at: 5).map(\.mail.createdAt) == [World.now + 1, World.now + 2])
            #expect(try await sender.take(at: 124).isEmpty)
            // The server that took the mails has ended.
            let again = try await sender.take(at: 125)
            #expect(again.count == 3 && again.map(\.attempts) == [0, 0, 0])
            #expect(again.contains { $0.mail.id == first.mail.id })
            for mail in again { try await store.settleMail(mail, .done) }
            #expect(try await store.mailBacklog() == MailBacklog(count: 0, oldest: nil))
            #expect(try await sender.take(at: 9999).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `two servers that take mails at once never take the same one`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            for second in 0..<12 { try await sender.queue(at: World.now - Double(second)) }
            let taken = try await withThrowingTaskGroup(of: [MailIdentifier].self) { group in
                for _ in 0..<6 {
                    group.addTask { try await sender.take(at: 1, limit: 4).map(\.mail.id) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(taken.count == 12 && Set(taken).count == 12)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a failed mail is due later, and one that was cut off keeps its number of attempts`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            try await sender.queue()
            let first = try #require(try await sender.take(at: 0).first)
            try await store.settleMail(first, .failed(retryAt: World.now + 30))
            #expect(try await sender.take(at: 29).isEmpty)
            let second = try #require(try await sender.take(at: 30).first)
            #expect(second.attempts == 1 && second.mail == first.mail)
            try await store.settleMail(second, .untried(dueAt: World.now + 32))
            let third = try #require(try await sender.take(at: 32).first)
            #expect(third.attempts == 1)
            // A server whose lease has ended does not disturb the one that has the mail.
            try await store.settleMail(second, .failed(retryAt: World.now))
            #expect(try await sender.take(at: 33).isEmpty)
            try await store.settleMail(second, .done)
            #expect(try await store.mailBacklog().count == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link verifies the address once, and only the newest one does`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            let former = try await sender.queue()
            let link = try await sender.queue()
            #expect(former.outcome == .queued && link.outcome == .queued)
            #expect(try await !sender.verify(former.secret))
            #expect(try await !sender.verify(MailLinkSecret()))
            #expect(try await !sender.verify(link.secret, at: World.now + 3600))
            #expect(try await sender.isVerified == nil)
            let other = try User.named("bob", email: "bob@example.com")
            #expect(try await store.addUser(other) == .added)
            let ofOther = try await store.verifyEmail(
                of: other.id, proving: ArtefactDigest(of: link.secret), at: World.now, recording: [])
            #expect(!ofOther)
            #expect(try await sender.verify(link.secret, at: World.now + 3599))
            #expect(try await sender.isVerified == true)
            #expect(try await store.user(sender.user.id)?.changedAt == World.now + 3599)
            #expect(try await !sender.verify(link.secret))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link of another address or of a disabled user verifies nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            #expect(try await sender.queue(replacing: "other@example.com").outcome == .addressChanged)
            #expect(try await store.mailBacklog().count == 0)
            let link = try await sender.queue()
            var user = sender.user
            user.email = EmailAddress("new@example.com")
            #expect(try await store.updateUser(user, at: World.now) == .updated)
            #expect(try await !sender.verify(link.secret))
            user.email = sender.user.email
            #expect(try await store.updateUser(user, at: World.now) == .updated)
            #expect(try await store.disableUser(user.id, at: World.now, recording: []) == .changed)
            #expect(try await !sender.verify(link.secret))
            #expect(try await sender.queue().outcome == .addressChanged)
            #expect(try await sender.isVerified == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link changes the address once, unless the former one has changed or another user has the new one`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            let link = try await sender.queue(to: "new@example.com")
            let stored = try #require(try await store.emailVerification(of: sender.user.id))
            #expect(stored.email.rawValue == "new@example.com" && stored.former == sender.user.email)
            #expect(stored.digest == ArtefactDigest(of: link.secret) && stored.expires == World.now + 3600)
            #expect(try await !sender.verify(link.secret, at: World.now + 3600))
            #expect(try await sender.verify(link.secret, at: World.now + 60))
            let changed = try #require(try await store.user(sender.user.id))
            #expect(changed.email?.rawValue == "new@example.com" && changed.profile.isEmailVerified == true)
            #expect(try await store.emailVerification(of: sender.user.id) == nil)
            #expect(try await !sender.verify(link.secret, at: World.now + 60))

            let back = try await sender.queue(to: "ada@example.com", replacing: "new@example.com")
            var other = changed
            other.email = EmailAddress("third@example.com")
            #expect(try await store.updateUser(other, at: World.now) == .updated)
            #expect(try await !sender.verify(back.secret))
            let taken = try await sender.queue(to: "bob@example.com", replacing: "third@example.com")
            #expect(try await store.addUser(try User.named("bob", email: "bob@example.com")) == .added)
            #expect(try await !sender.verify(taken.secret))
            #expect(try await store.user(sender.user.id)?.email == other.email)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user without an address gets one by a link`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            var user = sender.user
            user.email = nil
            #expect(try await store.updateUser(user, at: World.now) == .updated)
            #expect(try await sender.queue().outcome == .addressChanged)
            let link = try await sender.queue(replacing: "")
            #expect(link.outcome == .queued)
            #expect(try await sender.verify(link.secret))
            #expect(try await store.user(user.id)?.email == sender.user.email)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the notice of an event is queued if the change is made`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            for (former, outcome) in [
                (PasswordHash.other, ChangePasswordOutcome.changedMeanwhile), (.example, .changed),
            ] {
                let event = AuditEvent(at: World.now, .passwordChange, userID: sender.user.id)
                    .notifying(by: Sender.mail(of: sender.user))
                let changed = try await store.changePassword(
                    of: sender.user.id, from: former, to: .other, keeping: nil, at: World.now, recording: [event])
                #expect(changed == outcome)
                #expect(try await store.mailBacklog().count == (outcome == .changed ? 1 : 0))
            }
            // The notice is no part of the log.
            let event = AuditEvent(at: World.now, .passwordChange, userID: sender.user.id)
            #expect(try await store.audit(AuditQuery()).map(\.event) == [event])
            #expect(event == event.notifying(by: Sender.mail(of: sender.user)))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a notice to another user than that of the event, or to a deleted user, is not queued`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            let (notice, other) = (Sender.mail(of: sender.user), try User.named("bob"))
            #expect(try await store.addUser(other) == .added)
            try await store.appendAudit(AuditEvent(at: World.now, .passkey, userID: other.id).notifying(by: notice))
            let terms = try World.terms(of: sender.user)
            _ = try await store.beginRemoval(of: sender.user.id, by: terms, recording: { _ in [] }, at: World.now)
            let event = AuditEvent(at: World.now + 1, .passkey, userID: sender.user.id)
            try await store.appendAudit(event.notifying(by: notice))
            #expect(try await store.audit(AuditQuery(since: World.now + 1)).first?.event.userID == terms.pseudonym)
            #expect(try await store.mailBacklog().count == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a mail that no server sends is deleted after its expiry`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            try await sender.queue()
            // A server that sends mails gives it up within an hour.
            for (seconds, count) in [(86_400.0 + 3600, 1), (86_400 + 3601, 0)] {
                let limits = ExpirationLimits(
                    now: World.now + seconds, codesBefore: .distantPast, sessionsIdleBefore: .distantPast,
                    refreshIdleBefore: .distantPast, grantsBefore: .distantPast)
                _ = try await store.deleteExpired(limits, atMost: 100)
                #expect(try await store.mailBacklog().count == count)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the mails and links of a deleted user are deleted, and expired links, too`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sender = try await Sender(store)
            let link = try await sender.queue()
            let limits = ExpirationLimits(
                now: World.now + 3601, codesBefore: .distantPast, sessionsIdleBefore: .distantPast,
                refreshIdleBefore: .distantPast, grantsBefore: .distantPast)
            _ = try await store.deleteExpired(limits, atMost: 100)
            #expect(try await !sender.verify(link.secret))
            try await sender.queue()
            let terms = try World.terms(of: sender.user)
            let begun = try await store.beginRemoval(
                of: sender.user.id, by: terms, recording: { _ in [] }, at: World.now)
            #expect(begun == .begun([]))
            #expect(try await store.mailBacklog().count == 0)
        }
    }
}

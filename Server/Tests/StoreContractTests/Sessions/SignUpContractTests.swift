import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: invitations, requests for an account, and accepted terms")
struct SignUpContractTests {
    private static func invitation(
        _ secret: SignUpSecret, email: String? = nil, until end: Date = World.now + 3600
    ) -> Invitation {
        Invitation(
            digest: ArtefactDigest(of: secret), email: email.flatMap(EmailAddress.init), isMailed: email != nil,
            role: .support, clientID: ClientIdentifier("app-lightbox"), createdAt: World.now, expiresAt: end)
    }

    private static func signUp(_ secret: SignUpSecret, email: String = "bob@example.com") throws -> SignUp {
        SignUp(
            digest: ArtefactDigest(of: secret), email: try #require(EmailAddress(email)),
            browser: ArtefactDigest(ofSignUpBrowser: "browser"), pendingRequest: "client_id=app-lightbox&scope=a%20b",
            expiresAt: World.now + 1800)
    }

    private static func mail(at time: Date = World.now) -> NewMail {
        NewMail(id: MailIdentifier(), userID: nil, sealed: [1, 2], createdAt: time, expires: time + 1800)
    }

    @Test(arguments: StoreKind.allCases)
    func `an invitation is read until it expires, and lists have it afterwards`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, second) = (SignUpSecret(), SignUpSecret())
            let invitation = Self.invitation(first, email: "bob@example.com")
            var other = Self.invitation(second)
            #expect(try await store.addInvitation(invitation, sending: Self.mail(), recording: []) == .added)
            #expect(try await store.addInvitation(other, sending: nil, recording: []) == .added)
            #expect(try await store.mailBacklog().count == 1)
            let listed = try await store.invitations()
            #expect(Set(listed) == [invitation, other])
            #expect(try await store.invitation(invitation.digest, at: World.now + 3599) == invitation)
            #expect(try await store.invitation(invitation.digest, at: World.now + 3600) == nil)
            #expect(try await store.removeInvitation(invitation.digest, recording: []))
            #expect(try await !store.removeInvitation(invitation.digest, recording: []))
            #expect(try await store.invitation(invitation.digest, at: World.now) == nil)
            #expect(try await store.invitations() == [other])
            other = Self.invitation(SignUpSecret(), email: "ada@example.com")
            let ada = try User.named("ada", email: "ada@example.com")
            #expect(try await store.addUser(ada) == .added)
            #expect(try await store.addInvitation(other, sending: Self.mail(), recording: []) == .emailTaken)
            #expect(try await store.mailBacklog().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link creates one account, also if two requests use it at once`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for isInvitation in [true, false] {
                let secret = SignUpSecret()
                let digest = ArtefactDigest(of: secret)
                let email = isInvitation ? "bob@example.com" : "eve@example.com"
                if isInvitation {
                    let invitation = Self.invitation(secret, email: email)
                    #expect(try await store.addInvitation(invitation, sending: nil, recording: []) == .added)
                } else {
                    let signUp = try Self.signUp(secret, email: email)
                    #expect(try await store.beginSignUp(signUp, sending: Self.mail(), recording: []) == .queued)
                    #expect(try await store.signUp(digest, at: World.now + 1799) == signUp)
                    #expect(try await store.signUp(digest, at: World.now + 1800) == nil)
                }
                let link: SignUpLink = isInvitation ? .invitation(digest) : .signUp(digest)
                let outcomes = try await withThrowingTaskGroup(of: SignUpOutcome.self) { group in
                    for number in 0..<4 {
                        let user = try User.named("user\(isInvitation)\(number)".lowercased(), email: email)
                        group.addTask { try await store.addUser(user, by: link, at: World.now, recording: []) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.filter { $0 == .added }.count == 1)
                #expect(outcomes.filter { $0 == .linkOver }.count == 3)
                #expect(try await store.users(after: nil, limit: 9).filter { $0.email?.rawValue == email }.count == 1)
            }
            #expect(try await store.invitations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a new account ends all links to its address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let secrets = (0..<5).map { _ in SignUpSecret() }
            let invitations = [
                Self.invitation(secrets[0], email: "bob@example.com"),
                Self.invitation(secrets[1], email: "eve@example.com"), Self.invitation(secrets[2]),
            ]
            for invitation in invitations {
                #expect(try await store.addInvitation(invitation, sending: nil, recording: []) == .added)
            }
            for secret in secrets[3...] {
                let signUp = try Self.signUp(secret)
                #expect(try await store.beginSignUp(signUp, sending: Self.mail(), recording: []) == .queued)
            }
            let bob = try User.named("bob", email: "bob@example.com")
            let link = SignUpLink.signUp(ArtefactDigest(of: secrets[3]))
            #expect(try await store.addUser(bob, by: link, at: World.now, recording: []) == .added)
            for secret in secrets[3...] {
                #expect(try await store.signUp(ArtefactDigest(of: secret), at: World.now) == nil)
            }
            #expect(Set(try await store.invitations()) == Set(invitations[1...]))
            let eve = try User.named("eve", email: "eve@example.com")
            let ofEve = SignUpLink.invitation(ArtefactDigest(of: secrets[1]))
            #expect(try await store.addUser(eve, by: ofEve, at: World.now, recording: []) == .added)
            #expect(try await store.invitations() == [invitations[2]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused account leaves the link as it is`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let ada = try User.named("ada", email: "ada@example.com")
            #expect(try await store.addUser(ada) == .added)
            let secret = SignUpSecret()
            let link = SignUpLink.signUp(ArtefactDigest(of: secret))
            let signUp = try Self.signUp(secret)
            #expect(try await store.beginSignUp(signUp, sending: Self.mail(), recording: []) == .queued)
            func add(_ name: String, _ email: String?, at time: Date = World.now) async throws -> SignUpOutcome {
                try await store.addUser(try .named(name, email: email), by: link, at: time, recording: [])
            }
            #expect(try await add("ada", "bob@example.com") == .usernameTaken)
            #expect(try await add("bob", "other@example.com") == .linkOver)
            #expect(try await add("bob", nil) == .linkOver)
            #expect(try await add("bob", "bob@example.com", at: World.now + 1800) == .linkOver)
            let wrong = SignUpLink.invitation(ArtefactDigest(of: secret))
            let ofOtherKind = try await store.addUser(
                try .named("bob", email: "bob@example.com"), by: wrong, at: World.now, recording: [])
            #expect(ofOtherKind == .linkOver)
            #expect(try await add("bob", "bob@example.com") == .added)
            // The address got an account by another link.
            let later = SignUpSecret()
            let laterSignUp = try Self.signUp(later)
            #expect(try await store.beginSignUp(laterSignUp, sending: Self.mail(), recording: []) == .queued)
            let second = try await store.addUser(
                try .named("robert", email: "bob@example.com"), by: .signUp(ArtefactDigest(of: later)), at: World.now,
                recording: [])
            #expect(second == .emailTaken)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a mail to a person without an account is taken, and its link expires`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let secret = SignUpSecret()
            let mail = Self.mail()
            let signUp = try Self.signUp(secret)
            #expect(try await store.beginSignUp(signUp, sending: mail, recording: []) == .queued)
            #expect(
                try await store.addInvitation(Self.invitation(SignUpSecret()), sending: nil, recording: []) == .added)
            let taken = try await store.takeMails(dueAt: World.now, until: World.now + 60, limit: 9)
            #expect(taken.map(\.mail) == [mail] && taken.first?.mail.userID == nil)
            let limits = ExpirationLimits(
                now: World.now + 3601, codesBefore: .distantPast, sessionsIdleBefore: .distantPast,
                refreshIdleBefore: .distantPast, grantsBefore: .distantPast)
            _ = try await store.deleteExpired(limits, atMost: 100)
            #expect(try await store.signUp(ArtefactDigest(of: secret), at: World.now) == nil)
            #expect(try await store.invitations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the accepted terms are stored, and no other change of the user touches them`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            var user = try User.named("ada")
            #expect(try await store.addUser(user) == .added)
            #expect(try await store.user(user.id)?.acceptedTerms == nil)
            let terms = AcceptedTerms(version: "2031-05", acceptedAt: World.now)
            #expect(try await store.acceptTerms(terms, by: user.id, recording: []))
            #expect(try await store.user(user.id)?.acceptedTerms == terms)
            user.displayName = "Ada"
            #expect(try await store.updateUser(user, at: World.now + 1) == .updated)
            #expect(try await store.user(user.id)?.acceptedTerms == terms)
            #expect(try await !store.acceptTerms(terms, by: UserIdentifier(), recording: []))
            let withTerms = User(
                username: try #require(Username("bob")), email: nil, displayName: "Bob", passwordHash: .example,
                acceptedTerms: terms, createdAt: World.now)
            #expect(try await store.addUser(withTerms) == .added)
            #expect(try await store.user(withTerms.id) == withTerms)
        }
    }
}

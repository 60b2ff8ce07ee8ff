import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: links of users, and passwords that are set without a session")
struct UserLinkContractTests {
    private static let browser = ArtefactDigest(ofBrowser: "browser")

    private static func request(of world: World) throws -> UserLink.Request {
        UserLink.Request(
            email: try #require(world.user.email), browser: browser, destination: "/oauth2/authorize?client_id=x")
    }

    private static func link(
        of user: User, _ origin: UserLink.Origin = .operator, expires: Date = World.now + 60
    ) -> UserLink {
        UserLink(
            digest: ArtefactDigest(ofUserLink: MailLinkSecret()), userID: user.id, origin: origin, expires: expires)
    }

    private static func mail(of user: User) -> NewMail {
        NewMail(
            id: MailIdentifier(), userID: user.id, sealed: [1], createdAt: World.now, expires: World.now + 1800)
    }

    private static func use(
        _ link: UserLink, in world: World, _ factor: SecondFactorUse? = nil, from former: PasswordHash = .example,
        at time: Date = World.now
    ) async throws -> ResetPasswordOutcome {
        var user = world.user
        user.passwordHash = former
        let reset = PasswordReset(of: user, by: .link(link.digest, factor), to: .other)
        return try await world.store.resetPassword(reset, at: time, recording: [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a link is read back with its user, and the newest of each origin is valid`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let former = Self.link(of: world.user)
            let link = Self.link(of: world.user)
            let mailed = Self.link(of: world.user, .mail(try Self.request(of: world)))
            for added in [former, link] {
                #expect(try await world.store.addUserLink(added, sending: nil, recording: []) == .added)
            }
            #expect(
                try await world.store.addUserLink(mailed, sending: Self.mail(of: world.user), recording: []) == .added)
            #expect(try await world.store.userLink(former.digest) == nil)
            for valid in [link, mailed] {
                #expect(try await world.store.userLink(valid.digest) == UserLinkFacts(link: valid, user: world.user))
            }
            #expect(try await world.store.mailBacklog().count == 1)
            #expect(try await Self.use(former, in: world) == .permissionOutdated)
            let nobody = Self.link(of: try User.named("nobody"))
            #expect(try await world.store.addUserLink(nobody, sending: nil, recording: []) == .userNotActive)
            var other = world.user
            other.email = EmailAddress("other@example.com")
            #expect(try await world.store.updateUser(other, at: World.now) == .updated)
            let late = Self.link(of: world.user, .mail(try Self.request(of: world)))
            #expect(
                try await world.store.addUserLink(late, sending: Self.mail(of: world.user), recording: [])
                    == .userNotActive)
            #expect(try await world.store.mailBacklog().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `each browser has one link in a mail, and a user has a limited number`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let email = try #require(world.user.email)
            func add(_ number: Int, until end: Int) async throws -> UserLink {
                let request = UserLink.Request(
                    email: email, browser: ArtefactDigest(ofBrowser: "browser \(number)"), destination: "")
                let link = Self.link(of: world.user, .mail(request), expires: World.now + TimeInterval(end))
                #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
                return link
            }
            let byOperator = Self.link(of: world.user)
            #expect(try await world.store.addUserLink(byOperator, sending: nil, recording: []) == .added)
            let first = try await add(0, until: 60)
            var others: [UserLink] = []
            for number in 1..<UserLink.mailsPerUser { others.append(try await add(number, until: 60 + number)) }
            #expect(try await world.store.userLink(first.digest) != nil)
            let newer = try await add(1, until: 100)
            #expect(try await world.store.userLink(others[0].digest) == nil)
            #expect(try await world.store.userLink(first.digest) != nil)
            let last = try await add(UserLink.mailsPerUser, until: 101)
            #expect(try await world.store.userLink(first.digest) == nil)
            for link in others.dropFirst() + [newer, last, byOperator] {
                #expect(try await world.store.userLink(link.digest)?.link == link)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link sets a password once, ends every session and grant, and verifies the address of its mail`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (grant, waiting) = (world.grant(), try await world.approve(world.grant()))
            try await world.approve(grant)
            let mailed = Self.link(of: world.user, .mail(try Self.request(of: world)))
            let other = Self.link(of: world.user)
            for link in [mailed, other] {
                #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
            }
            #expect(try await Self.use(mailed, in: world) == .reset)
            let user = try #require(try await world.store.user(world.user.id))
            #expect(user.passwordHash == .other && user.profile.isEmailVerified == true)
            #expect(try await world.store.sessions(of: world.user.id).isEmpty)
            #expect(try await world.store.grantFacts(grant.id)?.grant.revokedAt != nil)
            #expect(try await world.store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
            for link in [mailed, other] {
                #expect(try await world.store.userLink(link.digest) == nil)
                #expect(try await Self.use(link, in: world, from: .other) == .permissionOutdated)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of two uses of a link at once, one sets the password`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let link = Self.link(of: world.user)
            #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
            let used = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 { group.addTask { try await Self.use(link, in: world) == .reset } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(used == 1)
        }
    }

    /// The changes after which a link sets no password.
    enum Change: CaseIterable {
        case expired, password, otherAddress, otherAddressAndBack, noAddress, disabled, disabledAndEnabled

        fileprivate var endsOperatorLink: Bool {
            switch self {
            case .expired, .password, .disabled, .disabledAndEnabled: true
            case .otherAddress, .otherAddressAndBack, .noAddress: false
            }
        }

        fileprivate func make(in world: World) async throws {
            var user = world.user
            func update(_ change: (inout User) -> Void) async throws {
                change(&user)
                #expect(try await world.store.updateUser(user, at: World.now) == .updated)
            }
            switch self {
            case .expired: break
            case .password:
                let outcome = try await world.store.changePassword(
                    of: user.id, from: .example, to: .other, keeping: nil, at: World.now, recording: [])
                #expect(outcome == .changed)
            case .otherAddress: try await update { $0.email = EmailAddress("other@example.com") }
            case .otherAddressAndBack:
                try await update { $0.email = EmailAddress("other@example.com") }
                try await update { $0.email = world.user.email }
            case .noAddress: try await update { $0.email = nil }
            case .disabled: try await world.store.disableUser(user.id, at: World.now, recording: [])
            case .disabledAndEnabled:
                try await world.store.disableUser(user.id, at: World.now, recording: [])
                #expect(try await world.store.enableUser(user.id, at: World.now, recording: []) == .changed)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Change.allCases)
    func `a link ends with its time and with a change of the account`(
        _ kind: StoreKind, _ change: Change
    ) async throws {
        try await kind.withWorld { world async throws in
            let mailed = Self.link(of: world.user, .mail(try Self.request(of: world)))
            let operators = Self.link(of: world.user)
            for link in [mailed, operators] {
                #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
            }
            try await change.make(in: world)
            let time = change == .expired ? World.now + 60 : World.now
            let hash = change == .password ? PasswordHash.other : .example
            #expect(try await Self.use(mailed, in: world, from: hash, at: time) != .reset)
            let isUsed = try await Self.use(operators, in: world, from: hash, at: time) == .reset
            #expect(isUsed != change.endsOperatorLink)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link sets no password of a user with a second factor without its use, also if it is lost`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (factor, code) = (SecondFactor.example(of: world.user), ArtefactDigest(of: SessionToken()))
            #expect(
                try await world.store.addSecondFactor(factor, recoveryCodes: [code], keeping: nil, recording: [])
                    == .added)
            let link = Self.link(of: world.user)
            #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
            #expect(try await Self.use(link, in: world) == .permissionOutdated)
            let past = SecondFactorUse.code(factor.digest, step: factor.lastStep)
            #expect(try await Self.use(link, in: world, past) == .permissionOutdated)
            // Nothing was written, so the link and the code are left.
            #expect(try await world.store.user(world.user.id)?.passwordHash == .example)
            #expect(try await Self.use(link, in: world, .recoveryCode(code)) == .reset)
            #expect(try await !world.store.hasRecoveryCode(code, of: world.user.id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link adds a passkey in place of the password`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let passkey = Passkey(
                credentialID: [1], userID: world.user.id, publicKey: [], name: "Key", createdAt: World.now)
            func use(_ link: UserLink) async throws -> ResetPasswordOutcome {
                let reset = PasswordReset(of: world.user, by: .link(link.digest, nil), to: .passkey(passkey))
                return try await world.store.resetPassword(reset, at: World.now, recording: [])
            }
            let link = Self.link(of: world.user)
            #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
            #expect(try await use(link) == .reset)
            #expect(try #require(try await world.store.user(world.user.id)).passwordHash == nil)
            #expect(try await world.store.passkeys(of: world.user.id) == [passkey])
            #expect(try await world.store.sessions(of: world.user.id).isEmpty)
            let session = Session.example(of: world.user)
            #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .proofOutdated)
            // Another link does not add it a second time.
            let next = Self.link(of: world.user)
            #expect(try await world.store.addUserLink(next, sending: nil, recording: []) == .added)
            #expect(try await use(next) == .permissionOutdated)
            #expect(try await world.store.userLink(next.digest) != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a recovery code sets a password once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let codes = [ArtefactDigest(of: SessionToken()), ArtefactDigest(of: SessionToken())]
            let other = try await world.adding("bob")
            #expect(
                try await world.store.addSecondFactor(
                    .example(of: world.user), recoveryCodes: codes, keeping: nil, recording: []) == .added)
            @Sendable func reset(_ user: User, _ code: ArtefactDigest) async throws -> ResetPasswordOutcome {
                let reset = PasswordReset(of: user, by: .recoveryCode(code), to: .other)
                return try await world.store.resetPassword(reset, at: World.now, recording: [])
            }
            #expect(try await reset(other.user, codes[0]) == .permissionOutdated)
            let used = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 { group.addTask { try await reset(world.user, codes[0]) == .reset } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(used == 1)
            #expect(try await world.store.sessions(of: world.user.id).isEmpty)
            #expect(try await world.store.hasRecoveryCode(codes[1], of: world.user.id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a password that must be changed begins no session`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let temporary = PasswordReset(of: world.user, by: .operator(isTemporary: true), to: .other)
            #expect(try await store.resetPassword(temporary, at: World.now, recording: []) == .reset)
            let user = try #require(try await store.user(world.user.id))
            #expect(user.mustChangePassword && user.passwordHash == .other)
            #expect(try await store.sessions(of: user.id).isEmpty)
            let session = Session.example(of: user)
            #expect(try await store.beginSession(session, proving: .other, replacing: nil) == .proofOutdated)
            let chosen = PasswordReset(of: user, by: .formerPassword(nil), to: .example)
            #expect(try await store.resetPassword(chosen, at: World.now, recording: []) == .reset)
            #expect(try await store.user(user.id)?.mustChangePassword == false)
            #expect(
                try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            // The one that was verified is not the password any more.
            #expect(
                try await store.resetPassword(chosen, at: World.now, recording: [])
                    == .permissionOutdated)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that depends on the role of the user is refused once the role is another`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            let (grant, passkey) = (world.grant(), Passkey.example(1, of: user))
            try await world.approve(grant)
            #expect(try await store.addPasskey(passkey, recording: []) == .added)
            #expect(
                try await store.addSecondFactor(
                    .example(of: user), recoveryCodes: [], keeping: world.session.digest, recording: []) == .added)
            #expect(try await store.setRole(.support, of: user.id, from: nil, at: World.now, recording: []) == .changed)
            let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            // The new right ends the sign-in of the native app, too.
            #expect(try await store.grantFacts(grant.id)?.grant.revokedAt != nil)
            for (role, isChanged) in [(UserQuery.Role.noRole, false), (.role(.owner), false), (.role(.support), true)] {
                let attributes = try await store.replaceAttributes(
                    of: user.id, requiredRole: role, from: UserAttributes(), by: UserAttributes(), at: World.now,
                    recording: [])
                #expect(attributes == (isChanged ? .updated : .changedMeanwhile))
                let removed = try await store.removePasskey(
                    passkey.digest, of: user.id, requiredRole: role, countingIdentitiesOf: [], recording: [])
                #expect(removed == (isChanged ? .removed : .notFound))
                let isReset = try await store.resetSecondFactor(of: user.id, requiredRole: role, recording: [])
                #expect(isReset == isChanged)
                let reset = PasswordReset(
                    of: user, by: .operator(isTemporary: false, requiredRole: role), to: .other)
                let password = try await store.resetPassword(reset, at: World.now, recording: [])
                #expect(password == (isChanged ? .reset : .permissionOutdated))
                let disabled = try await store.disableUser(
                    user.id, requiredRole: role, at: World.now, recording: [])
                #expect(disabled == (isChanged ? .changed : .changedMeanwhile))
                let terms = try RemovalTerms(of: user.id, with: key, requiredRole: role)
                let removal = try await store.beginRemoval(
                    of: user.id, by: terms, recording: { _ in [] }, at: World.now)
                #expect(removal == (isChanged ? .begun([]) : .notFound))
            }
        }
    }
}

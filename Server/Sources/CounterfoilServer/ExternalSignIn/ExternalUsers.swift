@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The claims about a user that another issuer has signed.
struct ExternalClaims: Sendable {
    /// The claims that are strings, by name, unchecked.
    let texts: [String: String]
    /// Whether the issuer has verified the email address.
    let isEmailVerified: Bool
}

/// The accounts of users whom another issuer signs in, found by the issuer and the subject alone.
///
/// No account is found by an email address or a username: who controls one at the other issuer would control the
/// account. The claims count at the first sign-in, which can create the account.
struct ExternalUsers: Sendable {
    /// The maximum number of attempts to add an account whose names other users have.
    private static let attemptLimit = 5
    /// The maximum number of usernames with a number at their end that are tried before one with random digits.
    private static let numberedNames = 2...9
    /// The maximum length of a username without what makes it free.
    private static let nameLimit = 48

    let settings: ServerSettings
    let store: any UserIdentityStore & UserStore
    let throttle: SignInThrottle
    let auditor: Auditor
    let random: RandomBytes

    enum Outcome: Sendable {
        /// The user of the identity, whose account is not disabled.
        case found(User, UserIdentity)
        /// The account is disabled, or there is none and none is created.
        case refused(SignIn.Cause)
        /// There were too many sign-ins; `retryAfter` is the time to wait, in seconds.
        case tooEarly(retryAfter: Int, SignIn.Cause)
    }

    /// Finds the user of a subject, or adds one.
    ///
    /// - Parameters:
    ///   - subject: The issuer and the subject.
    ///   - claims: The claims about the user, for a new account.
    ///   - createsAccounts: Whether the first sign-in creates an account.
    ///   - client: The client for which the user signs in; nil for none.
    ///   - request: The request of the browser.
    ///   - now: The time of the request.
    func user(
        of subject: ExternalSubject, claims: ExternalClaims, creatingAccounts createsAccounts: Bool,
        for client: ClientIdentifier?, in request: IncomingRequest, now: Date
    ) async throws -> Outcome {
        let found = try await store.identity(subject)
        guard let facts = found else {
            guard createsAccounts else {
                return .refused(
                    SignIn.Cause(reason: .unknownUser, user: nil, detail: "no account has the identity"))
            }
            return try await create(subject, claims, for: client, in: request, now: now)
        }
        return judge(facts, in: request, now: now)
    }

    private func judge(_ facts: UserIdentityFacts, in request: IncomingRequest, now: Date) -> Outcome {
        let user = facts.user
        guard user.disabledAt == nil else {
            return .refused(SignIn.Cause(reason: .disabled, user: user.id, detail: "external sign-in"))
        }
        let source = request.countedSource(settings.issuer)
        if let seconds = throttle.wait(user.id, from: source, within: settings.signInsPerMinute, now: now) {
            return .tooEarly(
                retryAfter: seconds,
                SignIn.Cause(reason: .throttledUser, user: user.id, detail: "successful sign-ins from one source"))
        }
        throttle.note(user.id, from: source, within: settings.signInsPerMinute, now: now)
        return .found(user, facts.identity)
    }

    private func create(
        _ subject: ExternalSubject, _ claims: ExternalClaims, for client: ClientIdentifier?,
        in request: IncomingRequest, now: Date
    ) async throws -> Outcome {
        var email = claims.texts["email"].flatMap { EmailAddress($0) }
        if let address = email, try await store.user(withEmail: address) != nil { email = nil }
        // An API that knows the users of the owner by this identifier knows them here, too.
        var id = UserIdentifier(subject.subject).flatMap { $0.isImportable ? $0 : nil }
        for _ in 1...Self.attemptLimit {
            let user = User(
                of: claims, id: id ?? UserIdentifier(random: random),
                username: try await freeName(claims, subject), email: email, at: now)
            let identity = UserIdentity(
                id: UserIdentityIdentifier(random: random), subject: subject, userID: user.id, createdAt: now)
            let event = auditor.event(
                .account, by: request, user: user.id, client: client, detail: "created by an external sign-in",
                now: now
            ).named(.userCreated)
            switch try await store.addUser(user, with: identity, recording: [event]) {
            case .added:
                auditor.countRecorded(event)
                return judge(UserIdentityFacts(identity: identity, user: user), in: request, now: now)
            case .identityExists:
                // Another first sign-in of the same user came first.
                guard let facts = try await store.identity(subject) else { continue }
                return judge(facts, in: request, now: now)
            case .identifierTaken: id = nil
            case .emailTaken: email = nil
            case .usernameTaken: continue
            }
        }
        throw StoreFault.unavailable("no free username was found for a new account")
    }

    /// Returns a username that no user has, from the claims or the subject.
    private func freeName(_ claims: ExternalClaims, _ subject: ExternalSubject) async throws -> Username {
        let wanted = [
            claims.texts["preferred_username"], claims.texts["email"].map { String($0.prefix { $0 != "@" }) },
            subject.subject,
        ]
        let name = wanted.lazy.compactMap { $0.flatMap(Self.name(from:)) }.first ?? "user"
        for candidate in [name] + Self.numberedNames.map({ "\(name)-\($0)" }) {
            guard let username = Username(candidate) else { continue }
            if try await store.userID(named: username) == nil { return username }
        }
        let digits = random.bytes(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        guard let username = Username("\(name)-\(digits)") else {
            throw StoreFault.unavailable("no free username was found for a new account")
        }
        return username
    }

    /// Returns a text with the characters of usernames only; nil if nothing is left.
    private static func name(from text: String) -> String? {
        let characters = text.lowercased().prefix(nameLimit).map { character in
            character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
                ? character : "-"
        }
        let name = String(characters).drop { "._-".contains($0) }
        let end = name.lastIndex { !"._-".contains($0) }
        return end.map { String(name[...$0]) }
    }
}

extension User {
    /// Creates the account of a user at the first sign-in; claims that have not the form of their kind are left out.
    fileprivate init(
        of claims: ExternalClaims, id: UserIdentifier, username: Username, email: EmailAddress?, at time: Date
    ) {
        func value(_ name: String, _ format: ClaimFormat) -> String? {
            let text = claims.texts[name]?.trimmingWhitespace()
            return text.flatMap { !$0.isEmpty && format.accepts($0) ? $0 : nil }
        }
        var profile = UserProfile()
        profile.givenName = value("given_name", .name)
        profile.familyName = value("family_name", .name)
        profile.middleName = value("middle_name", .name)
        profile.nickname = value("nickname", .name)
        profile.picture = value("picture", .url)
        profile.zoneInfo = value("zoneinfo", .timeZone)
        profile.locale = value("locale", .language)
        if email != nil, claims.isEmailVerified { profile.isEmailVerified = true }
        let full = [profile.givenName, profile.familyName].compactMap(\.self).joined(separator: " ")
        let names = [claims.texts["name"]?.trimmingWhitespace(), full]
        let displayName = names.compactMap(\.self).first { !$0.isEmpty && $0.isDisplayName }
        self.init(
            id: id, username: username, email: email, displayName: displayName ?? username.rawValue,
            passwordHash: nil, profile: profile, createdAt: time)
    }
}

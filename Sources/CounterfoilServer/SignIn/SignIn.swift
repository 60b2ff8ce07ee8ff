import CounterfoilProtocol
package import Foundation

/// Who somebody is, by name and password.
///
/// An unknown person and a wrong password give the same answer in the same time.
package struct SignIn: Sendable {
    let store: any PeopleStore
    let hasher: PasswordHasher
    let throttle: SignInThrottle

    /// What came of a try.
    package enum Outcome: Sendable {
        /// It is this person.
        case signedIn(Person)
        /// There is no such person, or the password is wrong, or the account is switched off; whose it would be is for the audit log.
        case refused(PersonIdentifier?)
        /// There were too many failures; the password was not looked at.
        case tooEarly(retryAfter: Int)
    }

    /// Who asks, which decides what may be said of failures under another name of the same person.
    private enum Asker {
        /// Anybody, who must not learn that two names are one person's.
        case anybody
        /// Somebody who is signed in as this person.
        case themself
    }

    /// Judges what somebody typed who says that they are a person of this name.
    package func attempt(name: String, password: String, source: String?, now: Date) async throws -> Outcome {
        try await attempt(name, password: password, source: source, by: .anybody, now: now)
    }

    /// Judges the password of somebody who is signed in, in the counters of the sign-in page.
    package func confirm(_ person: Person, password: String, source: String?, now: Date) async throws -> Outcome {
        try await attempt(person.username.rawValue, password: password, source: source, by: .themself, now: now)
    }

    private func attempt(
        _ name: String, password: String, source: String?, by asker: Asker, now: Date
    ) async throws -> Outcome {
        let typed = name.lowercased()
        if case .tooEarly(let seconds) = throttle.admit(name: typed, source: source, now: now) {
            return .tooEarly(retryAfter: seconds)
        }
        var counted: PersonIdentifier?
        do {
            let person = try await person(named: name)
            if let person {
                switch throttle.admit(person: person.id, now: now) {
                case .allowed: counted = person.id
                case .tooEarly(let seconds) where asker == .themself:
                    throttle.withdraw(name: typed, person: nil, source: source, admittedAt: now)
                    return .tooEarly(retryAfter: seconds)
                case .tooEarly:
                    _ = try await judge(nil, password: password)
                    return .refused(person.id)
                }
            }
            guard let proved = try await judge(person, password: password) else { return .refused(person?.id) }
            throttle.noteSuccess(name: typed, person: proved.id, source: source, admittedAt: now)
            return .signedIn(proved)
        } catch {
            throttle.withdraw(name: typed, person: counted, source: source, admittedAt: now)
            throw error
        }
    }

    /// The person whose password it is; the work is the same without a person.
    private func judge(_ person: Person?, password: String) async throws -> Person? {
        guard let typed = Password(typed: password), try await hasher.verify(typed, against: person?.passwordHash),
            let person, person.disabledAt == nil
        else { return nil }
        return person
    }

    private func person(named name: String) async throws(StoreFault) -> Person? {
        if let username = Username(name) { return try await store.person(named: username) }
        if let email = EmailAddress(name) { return try await store.person(withEmail: email) }
        return nil
    }
}

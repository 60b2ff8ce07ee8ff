import CounterfoilProtocol
import Foundation

/// Who somebody is, by name and password.
///
/// An unknown person and a wrong password give the same answer in the same time.
struct SignIn: Sendable {
    let store: any PeopleStore
    let hasher: PasswordHasher
    let throttle: SignInThrottle

    /// What came of a try.
    enum Outcome: Sendable {
        /// It is this person.
        case signedIn(Person)
        /// There is no such person, or the password is wrong, or the account is switched off.
        case refused
        /// There were too many failures; the password was not looked at.
        case tooEarly(retryAfter: Int)
    }

    func attempt(name: String, password: String, source: String?, now: Date) async throws -> Outcome {
        let counted = name.lowercased()
        if case .tooEarly(let seconds) = throttle.admit(person: counted, source: source, now: now) {
            return .tooEarly(retryAfter: seconds)
        }
        do {
            guard let person = try await judge(name: name, password: password) else { return .refused }
            throttle.noteSuccess(person: counted, source: source, admittedAt: now)
            return .signedIn(person)
        } catch {
            throttle.withdraw(person: counted, source: source, admittedAt: now)
            throw error
        }
    }

    private func judge(name: String, password: String) async throws -> Person? {
        let person = try await person(named: name)
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

/// Somebody with an account.
struct Person: Sendable {
    let name: String
    let email: String
    let password: String

    static let alice = Person(name: "alice", email: "alice@example.com", password: "correct horse battery staple")
    static let bob = Person(name: "bob", email: "bob@example.com", password: "quite another long password")
}

/// A user with an account.
struct Person: Sendable {
    let name: String
    let fullName: String
    let password: String

    var email: String { "\(name)@example.com" }

    static let alice = Person(name: "alice", fullName: "Alice Andersen", password: "correct horse battery staple")
    static let bob = Person(name: "bob", fullName: "Bob Berg", password: "quite another long password")
}

/// A user with an account.
package struct Account: Sendable {
    package let name: String
    package let fullName: String
    package let password: String

    package var email: String { "\(name)@example.com" }

    package init(name: String, fullName: String, password: String) {
        self.name = name
        self.fullName = fullName
        self.password = password
    }

    package static let alice = Account(
        name: "alice", fullName: "Alice Andersen", password: "correct horse battery staple")
    package static let bob = Account(name: "bob", fullName: "Bob Berg", password: "quite another long password")
}

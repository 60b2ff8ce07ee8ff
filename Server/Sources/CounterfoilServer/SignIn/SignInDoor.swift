/// The part of the server at which a user continues after a page that follows the sign-in.
package enum SignInDoor: String, Sendable {
    case authorization
    case device
    case console
}

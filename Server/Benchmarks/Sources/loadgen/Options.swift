import Foundation

/// The options on the command line.
struct Options {
    /// One kind of operation.
    enum Mode: String {
        /// An authorization request of a signed-in user, and the redemption of its code.
        case code
        /// An authorization request of a signed-in user that leads to the consent page, which is not answered.
        case consent
        /// The same request with `prompt=none`, which is refused: the cost of ``consent`` without its page.
        case consentRefused = "consent-refused"
        /// An authorization request without a session, which leads to the sign-in page.
        case signIn = "sign-in"
        /// A ``signIn``, and the sign-in with a passkey on its page.
        case passkey
        /// The exchange of a refresh token for the next one, with each of many tokens in turn.
        case refresh
        /// An introspection request of an API for an active access token.
        case introspect
        /// An introspection request of an API for a revoked access token.
        case introspectRevoked = "introspect-revoked"
        /// A ``code``, and the revocation of its refresh token.
        case revoke
        /// Of twenty operations one ``code``, four ``refresh`` and fifteen ``introspect``.
        case mixed
        /// The metadata document.
        case discovery
        /// The verification of an ES256 signature in this process, after each refresh request.
        case verify
    }

    enum Failure: Error, CustomStringConvertible {
        case help
        case unusable(String)

        var description: String {
            switch self {
            case .help: "help"
            case .unusable(let what): what
            }
        }
    }

    static let usage = """
        Usage: loadgen --target FILE --mode MODE [--connections N] [--tokens N] [--seconds S] [--warmup S] [--server-pid PID]

          --target FILE      a JSON file that says where the server is and who is signed in
          --mode MODE        code, consent, consent-refused, sign-in, passkey, refresh, introspect,
                             introspect-revoked, revoke, mixed, discovery or verify
          --connections N    connections that ask at the same time (default 4)
          --tokens N         how many tokens to get before the warm-up where the mode needs some (default 100)
          --seconds S        how long to measure (default 5)
          --warmup S         how long to ask before that (default 1)
          --server-pid PID   the server, whose processor time and memory are read from /proc, children included

        Example: loadgen --target counterfoil.json --mode code --connections 16 --server-pid 4711

        """

    var target = URL(fileURLWithPath: "")
    var mode = Mode.code
    var connections = 4
    var tokens = 100
    var seconds = 5.0
    var warmup = 1.0
    var serverProcess: Int?

    init(arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        var hasTarget = false
        while let option = rest.popFirst() {
            if option == "--help" || option == "-h" { throw .help }
            guard let value = rest.popFirst() else { throw .unusable("\(option) needs a value") }
            switch option {
            case "--target":
                target = URL(fileURLWithPath: value)
                hasTarget = true
            case "--mode":
                guard let parsed = Mode(rawValue: value) else { throw .unusable("no mode \(value)") }
                mode = parsed
            case "--connections": connections = try Self.number(value, in: 1...1024, for: option)
            case "--tokens": tokens = try Self.number(value, in: 1...100_000, for: option)
            case "--seconds": seconds = try Self.number(value, in: 0.1...600, for: option)
            case "--warmup": warmup = try Self.number(value, in: 0...60, for: option)
            case "--server-pid": serverProcess = try Self.number(value, in: 1...Int.max, for: option)
            default: throw .unusable("no option \(option)")
            }
        }
        guard hasTarget else { throw .unusable("--target is missing") }
    }

    private static func number<Number: LosslessStringConvertible & Comparable>(
        _ text: String, in range: ClosedRange<Number>, for option: String
    ) throws(Failure) -> Number {
        guard let number = Number(text), range.contains(number) else {
            throw .unusable("\(option) is from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }
}

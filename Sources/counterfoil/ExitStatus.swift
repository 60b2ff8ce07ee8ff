/// An exit code of a command that failed.
enum ExitStatus: Int32 {
    case refused = 3
    case timedOut = 4
    case unsafe = 5
    case unavailable = 6
    case usage = 64

    /// The part of every help text that documents the exit codes.
    static let help = """
        Exit codes:
          0   success
          3   refused by the server or the user: sign in again
          4   timed out
          5   response rejected as unsafe
          6   temporary network or server failure
          64  usage error
        """

    /// The value of the member `error` in the JSON that reports a failure.
    var name: String {
        switch self {
        case .refused: "refused"
        case .timedOut: "timed_out"
        case .unsafe: "unsafe_answer"
        case .unavailable: "unavailable"
        case .usage: "usage"
        }
    }
}

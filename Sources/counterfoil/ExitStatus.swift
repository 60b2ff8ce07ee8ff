/// An exit code of a command that failed; each has one meaning, so that a script can act on it.
enum ExitStatus: Int32 {
    /// No user is signed in, or the sign-in has ended: only another `counterfoil login` helps.
    case signInRequired = 3
    case timedOut = 4
    case unsafe = 5
    /// A later attempt may succeed without a change.
    case unavailable = 6
    /// The server, the user in the browser, or the API refused, and would probably refuse again.
    case refused = 7
    /// `EX_USAGE` of sysexits.
    case usage = 64
    /// `EX_SOFTWARE` of sysexits: a failure that this program does not expect.
    case failed = 70
    /// `EX_IOERR` of sysexits.
    case output = 74
    /// 128 and the number of SIGINT, as shells report it.
    case interrupted = 130

    /// The part of every help text that documents the exit codes.
    static let help = """
        Exit codes:
          0    success
          3    sign in again
          4    timed out
          5    response rejected as unsafe
          6    temporary network or server failure
          7    refused by the server, the user or the API
          64   usage error
          74   the output could not be written
          130  interrupted
        """

    /// The value of the member `error` in the JSON that reports a failure.
    var name: String {
        switch self {
        case .signInRequired: "sign_in_required"
        case .timedOut: "timed_out"
        case .unsafe: "unsafe_answer"
        case .unavailable: "unavailable"
        case .refused: "refused"
        case .usage: "usage"
        case .failed: "failed"
        case .output: "output_failed"
        case .interrupted: "interrupted"
        }
    }
}

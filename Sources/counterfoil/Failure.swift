import CounterfoilClient
import CounterfoilProtocol

/// The failure of a command: a sentence for the user and an exit code for scripts.
struct Failure: Error {
    let status: ExitStatus
    let sentence: String
    /// The exit code; that of ``status``, except after a signal other than SIGINT.
    let exitCode: Int32

    init(_ status: ExitStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
        exitCode = status.rawValue
    }

    /// The failure of a command that a signal interrupted; the exit code is 128 and the number of the signal.
    init(interruptedBy signal: Int32, _ sentence: String) {
        status = .interrupted
        self.sentence = sentence
        exitCode = 128 + signal
    }

    private init(_ failure: Failure, saying sentence: String) {
        (status, exitCode) = (failure.status, failure.exitCode)
        self.sentence = sentence
    }

    /// Returns a value from the command line; the error of an invalid one becomes a failure of the usage.
    static func usage<Value>(
        _ beginning: String = "", of value: () throws -> Value
    ) throws(Failure) -> Value {
        do { return try value() } catch { throw Failure(.usage, "\(beginning)\(error)") }
    }

    /// Returns a failure with the same exit code and another sentence.
    func saying(_ sentence: String) -> Failure { Failure(self, saying: sentence) }

    init(_ error: SignInError) {
        switch error {
        case .refused(let refusal) where refusal.isThrottling: self.init(.unavailable, "\(error)")
        case .refused: self.init(.refused, "\(error)")
        case .cancelled: self.init(.interrupted, "\(error)")
        case .timedOut, .codeExpired: self.init(.timedOut, "\(error)")
        case .unsafe: self.init(.unsafe, "\(error)")
        case .unavailable, .cannotListen: self.init(.unavailable, "\(error)")
        case .unusable: self.init(.usage, "\(error)")
        case .noClient: self.init(.usage, "\(error) with --client-id")
        case .store(let cause): self.init(cause)
        }
    }

    /// The failure of a request for a user who is signed in and stays signed in.
    ///
    /// An answer that does not come from the server, such as the page of a captive portal, is a temporary failure here.
    init(ofSignedIn error: SignInError) {
        self.init(error.isFromElsewhere ? .unavailable : Failure(error).status, "\(error)")
    }

    init(_ error: TokenStoreError) {
        let status: ExitStatus =
            switch error {
            case .notPrivate, .unreadable, .keyMissing, .damaged, .newer: .unsafe
            case .cancelled: .interrupted
            case .busy: .timedOut
            case .unavailable, .failed: .unavailable
            }
        self.init(status, "\(error)")
    }

    init(_ error: SessionError) {
        let status: ExitStatus
        switch error {
        case .notSignedIn(let profile, _):
            self.init(.signInRequired, "no user is signed in under the profile \(profile); run: counterfoil login")
            return
        case .ended, .expired: status = .signInRequired
        case .cancelled: status = .interrupted
        case .unavailable(let cause): status = Failure(ofSignedIn: cause).status
        case .paused: status = .unavailable
        case .signedOutHereOnly(let cause), .signInFailed(let cause): status = Failure(cause).status
        case .noResponse(let failure): status = Failure(SignInError(failure)).status
        case .store(let cause), .notStored(_, let cause): status = Failure(cause).status
        case .targetRefused(.server): status = .refused
        case .targetRefused(.noRefreshToken): status = .signInRequired
        case .targetRefused, .refused: status = .usage
        }
        self.init(status, "\(error)")
    }
}

extension OAuthError {
    /// Whether the server only asks the client to send fewer requests (RFC 8628 §3.5, and errors of vendors).
    fileprivate var isThrottling: Bool { code.rawValue == "slow_down" }
}

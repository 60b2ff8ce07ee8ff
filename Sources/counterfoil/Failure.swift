import CounterfoilClient

/// The failure of a command: a sentence for the user and an exit code for scripts.
struct Failure: Error {
    let status: ExitStatus
    let sentence: String

    init(_ status: ExitStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    init(_ error: SignInError) {
        switch error {
        case .refused, .cancelled: self.init(.refused, "\(error)")
        case .timedOut: self.init(.timedOut, "\(error)")
        case .unsafe: self.init(.unsafe, "\(error)")
        case .unavailable, .cannotListen: self.init(.unavailable, "\(error)")
        case .unusable: self.init(.usage, "\(error)")
        case .noClient: self.init(.usage, "\(error) with --client-id")
        case .store(let cause): self.init(cause)
        }
    }

    init(_ error: TokenStoreError) {
        let status: ExitStatus =
            switch error {
            case .notPrivate, .unreadable, .keyMissing, .damaged, .newer: .unsafe
            case .cancelled: .refused
            case .busy: .timedOut
            case .unavailable, .failed: .unavailable
            }
        self.init(status, "\(error)")
    }

    init(_ error: SessionError) {
        let status: ExitStatus
        switch error {
        case .notSignedIn(let profile):
            self.init(.refused, "no user is signed in under the profile \(profile); run: counterfoil login")
            return
        case .ended(.unsafe, _): status = .unsafe
        case .ended, .expired, .cancelled: status = .refused
        case .unavailable(let cause): status = Failure(cause).status
        case .paused: status = .unavailable
        case .store(let cause): status = Failure(cause).status
        case .refused: status = .usage
        }
        self.init(status, "\(error)")
    }
}

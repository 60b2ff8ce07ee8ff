#if os(Linux)
    import CounterfoilProtocol

    /// The responder of a ``CustomSchemeReceiver``.
    ///
    /// The desktop starts a second process of the program with a callback URL, and this process opens the connection.
    /// The responder reads one line with the URL and sends one line with the verdict of the waiting receiver.
    struct HandoffResponder: ConnectionResponder {
        let redirectURI: RedirectURI
        let wait: CallbackWait

        var timeLimit: Duration { .seconds(10) }

        var responseAtEnd: ConnectionResponse { response(.ended) }

        func response(to received: [UInt8], known: Int, on descriptor: Int32) -> ConnectionResponse? {
            guard let end = received[known...].firstIndex(of: UInt8(ascii: "\n")) else {
                return received.count > CallbackURL.byteLimit ? .close : nil
            }
            let url = String(decoding: received[..<end], as: UTF8.self)
            guard let callback = try? CallbackURL(url).callback(at: redirectURI) else { return response(.unrelated) }
            switch wait.decide(on: callback) {
            case .unrelated: return response(.unrelated)
            case .ended: return response(.ended)
            case .accepted:
                var accepted = response(.accepted)
                accepted.afterwards = { wait.deliver(callback) }
                return accepted
            }
        }

        private func response(_ verdict: RedirectHandoff.Verdict) -> ConnectionResponse {
            ConnectionResponse(bytes: Array("\(verdict.rawValue)\n".utf8))
        }
    }
#endif

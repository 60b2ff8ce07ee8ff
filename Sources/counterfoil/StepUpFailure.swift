import CounterfoilClient
import HTTPTypes

extension Failure {
    /// The failure of a request because the API requires more than the sign-in grants (RFC 6750 §3.1, RFC 9470 §3).
    ///
    /// - Parameter steppedUp: The credentials after another sign-in for the API; nil if there was none.
    init(
        _ demand: StepUp, of response: HTTPResponse, to request: TransportRequest, after steppedUp: Credentials?
    ) {
        let status = "(status \(response.status.code))"
        if let steppedUp {
            let remedy = demand.remedy(after: steppedUp)
            self.init(.signInRequired, "after another sign-in, the API still requires \(demand) \(status); \(remedy)")
        } else {
            self.init(.signInRequired, "the API requires \(demand) \(status); \(demand.remedy(for: request))")
        }
    }
}

extension StepUp {
    /// The advice to a user who has not signed in again.
    ///
    /// `counterfoil login` requests no authentication context, so it does not help if the API demands one.
    fileprivate func remedy(for request: TransportRequest) -> String {
        switch (request.body.isRepeatable, authenticationContexts.isEmpty) {
        case (true, true): "add --step-up, or run counterfoil login again"
        case (true, false): "add --step-up"
        case (false, true): "run counterfoil login again, or use --data @FILE and --step-up"
        case (false, false): "use --data @FILE and --step-up"
        }
    }

    /// The advice to a user whose new sign-in does not have what the API demands.
    fileprivate func remedy(after steppedUp: Credentials) -> String {
        guard !authenticationContexts.isEmpty else {
            return "the server did not grant that; ask its operator, or that of the API"
        }
        guard let context = steppedUp.user?.authenticationContext else {
            return "the server does not say how you signed in; ask its operator, or that of the API"
        }
        let stated = "the server signed you in with \(SpokenContext(context))"
        guard !authenticationContexts.contains(context) else { return "\(stated); ask the operator of the API" }
        // RFC 9470 §5: the server may not be able to sign in this user as the API demands.
        return "\(stated). Add a stronger way to sign in, such as a passkey, on your account page at "
            + "\(steppedUp.issuer), and run the command again"
    }
}

package import HTTPTypes

/// The way from a request to its endpoint, by host name and path.
package struct Routing: Sendable {
    /// The outcome for one request.
    package enum Outcome: Sendable, Hashable {
        /// An endpoint answers.
        case endpoint(RouteTable.Route)
        /// No endpoint answers at this path of the issuer; a file of the pages may be there.
        case noEndpoint
        /// No endpoint answers at this path of the origin for callback addresses; a stylesheet of the pages may be there.
        case notAtCallbackOrigin
        /// The server has no origin of this name (RFC 9110 §15.5.20).
        case misdirected

        /// The endpoint, where one answers.
        public var route: RouteTable.Route? { if case .endpoint(let route) = self { route } else { nil } }
    }

    private let settings: ServerSettings
    /// The paths at the origin of the issuer.
    package let routes: RouteTable
    private let callbackRoutes: RouteTable

    /// The routing of a server with these endpoints.
    package init(_ endpoints: [Endpoint], settings: ServerSettings) {
        self.settings = settings
        routes = RouteTable(endpoints, settings: settings)
        callbackRoutes = .ofCallbackOrigin(endpoints)
    }

    /// Finds the endpoint of a request; `path` is its target without the query.
    package func outcome(of request: HTTPRequest, path: some StringProtocol) -> Outcome {
        switch settings.origin(of: request) {
        case .issuer:
            return routes.route(path).map(Outcome.endpoint) ?? .noEndpoint
        case .callback:
            return callbackRoutes.route(path).map(Outcome.endpoint) ?? .notAtCallbackOrigin
        case .other:
            // A health check knows the address of the process and not its name.
            guard let route = routes.route(path), route.endpoint.isHealth else { return .misdirected }
            return .endpoint(route)
        }
    }
}

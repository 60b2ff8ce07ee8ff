package import HTTPTypes

/// The routing of requests to endpoints, by host name and path.
package struct Routing: Sendable {
    /// The outcome for one request.
    package enum Outcome: Sendable, Hashable {
        /// A route to an endpoint.
        case endpoint(RouteTable.Route)
        /// No endpoint has this path at the issuer; it may be a static file of the pages.
        case noEndpoint
        /// No endpoint has this path at the callback origin; it may be a stylesheet of the pages.
        case notAtCallbackOrigin
        /// The host name does not belong to the server (RFC 9110 §15.5.20).
        case misdirected

        /// The route; nil if there is none.
        package var route: RouteTable.Route? { if case .endpoint(let route) = self { route } else { nil } }
    }

    private let settings: ServerSettings
    /// The paths at the origin of the issuer.
    package let routes: RouteTable
    private let callbackRoutes: RouteTable

    /// Creates the routing for these endpoints.
    package init(_ endpoints: [Endpoint], settings: ServerSettings) {
        self.settings = settings
        routes = RouteTable(endpoints, settings: settings)
        callbackRoutes = .ofCallbackOrigin(endpoints)
    }

    /// Finds the endpoint of a request; `path` is the request target without the query.
    package func outcome(of request: HTTPRequest, path: some StringProtocol) -> Outcome {
        switch settings.origin(of: request) {
        case .issuer:
            return routes.route(path).map(Outcome.endpoint) ?? .noEndpoint
        case .callback:
            return callbackRoutes.route(path).map(Outcome.endpoint) ?? .notAtCallbackOrigin
        case .other:
            // A health check may use the address of the process instead of its host name.
            guard let route = routes.route(path), route.endpoint.isHealth else { return .misdirected }
            return .endpoint(route)
        }
    }
}

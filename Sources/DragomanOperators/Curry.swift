/// Takes the parameters of a function one after the other: `curry(f)(a)(b)` is `f(a, b)`.
///
///     try curry(Cat.init(name:weight:)) <^> row <| "name" <^> row <| "weight"
///
/// One function for each number of parameters from 2 to 20: parameter packs do not type-check here
/// beyond three.
public func curry<A, B, Result>(
  _ function: @escaping (A, B) -> Result
) -> (A) -> (B) -> Result {
  { a in { b in function(a, b) } }
}

/// Takes 3 parameters one after the other.
public func curry<A, B, C, Result>(
  _ function: @escaping (A, B, C) -> Result
) -> (A) -> (B) -> (C) -> Result {
  { a in curry { b, c in function(a, b, c) } }
}

/// Takes 4 parameters one after the other.
public func curry<A, B, C, D, Result>(
  _ function: @escaping (A, B, C, D) -> Result
) -> (A) -> (B) -> (C) -> (D) -> Result {
  { a in curry { b, c, d in function(a, b, c, d) } }
}

/// Takes 5 parameters one after the other.
public func curry<A, B, C, D, E, Result>(
  _ function: @escaping (A, B, C, D, E) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> Result {
  { a in curry { b, c, d, e in function(a, b, c, d, e) } }
}

/// Takes 6 parameters one after the other.
public func curry<A, B, C, D, E, F, Result>(
  _ function: @escaping (A, B, C, D, E, F) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> Result {
  { a in curry { b, c, d, e, f in function(a, b, c, d, e, f) } }
}

/// Takes 7 parameters one after the other.
public func curry<A, B, C, D, E, F, G, Result>(
  _ function: @escaping (A, B, C, D, E, F, G) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> Result {
  { a in curry { b, c, d, e, f, g in function(a, b, c, d, e, f, g) } }
}

/// Takes 8 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> Result {
  { a in curry { b, c, d, e, f, g, h in function(a, b, c, d, e, f, g, h) } }
}

/// Takes 9 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> Result {
  { a in curry { b, c, d, e, f, g, h, i in function(a, b, c, d, e, f, g, h, i) } }
}

/// Takes 10 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> Result {
  { a in curry { b, c, d, e, f, g, h, i, j in function(a, b, c, d, e, f, g, h, i, j) } }
}

/// Takes 11 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> Result {
  { a in curry { b, c, d, e, f, g, h, i, j, k in function(a, b, c, d, e, f, g, h, i, j, k) } }
}

/// Takes 12 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> Result {
  { a in curry { b, c, d, e, f, g, h, i, j, k, l in function(a, b, c, d, e, f, g, h, i, j, k, l) } }
}

/// Takes 13 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) ->
  Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m in function(a, b, c, d, e, f, g, h, i, j, k, l, m) }
  }
}

/// Takes 14 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    }
  }
}

/// Takes 15 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> (O) -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n, o in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    }
  }
}

/// Takes 16 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> (O) -> (P) -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n, o, p in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    }
  }
}

/// Takes 17 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> (O) -> (P) -> (Q) -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    }
  }
}

/// Takes 18 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> (O) -> (P) -> (Q) -> (R) -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    }
  }
}

/// Takes 19 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> (O) -> (P) -> (Q) -> (R) -> (S) -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    }
  }
}

/// Takes 20 parameters one after the other.
public func curry<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, Result>(
  _ function: @escaping (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T) -> Result
) -> (A) -> (B) -> (C) -> (D) -> (E) -> (F) -> (G) -> (H) -> (I) -> (J) -> (K) -> (L) -> (M) -> (N)
  -> (O) -> (P) -> (Q) -> (R) -> (S) -> (T) -> Result
{
  { a in
    curry { b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t in
      function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    }
  }
}

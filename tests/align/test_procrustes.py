"""The orthogonal and the advanced map against formulas in NumPy float64."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from x2s.align.procrustes import advanced_maps, orthogonal_map, whitening


def _pairs(count=60, dimension=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, dimension)) * np.linspace(0.5, 2, dimension)
    z = x @ rng.normal(size=(dimension, dimension)) + 0.3 * rng.normal(size=(count, dimension))
    return x, z


def _inverse_root(gram):
    values, vectors = np.linalg.eigh(gram)
    return vectors @ np.diag(values**-0.5) @ vectors.T


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(0, 30))
def test_a_rotation_whatever_the_dictionary(seed, dimension, count):
    rng = np.random.default_rng(seed)
    x, z = torch.from_numpy(rng.normal(size=(2, count, dimension)))
    weights = orthogonal_map(x.T @ z).numpy()
    np.testing.assert_allclose(weights.T @ weights, np.eye(dimension), atol=1e-10)


@given(st.integers(0, 2**31))
def test_recovers_a_planted_rotation(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 6))
    planted = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    np.testing.assert_allclose(orthogonal_map(torch.from_numpy(x.T @ x @ planted)).numpy(), planted, atol=1e-8)


def test_an_anchor_pulls_towards_staying():
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(30, 6)))
    planted = torch.from_numpy(np.linalg.qr(rng.normal(size=(6, 6)))[0])
    free, pulled, held = (orthogonal_map(x.T @ x @ planted, anchor) for anchor in (0.0, 0.5, 1e6))
    away = [float((rotation - torch.eye(6)).norm()) for rotation in (free, pulled, held)]
    assert away[0] > away[1] > away[2]
    assert away[2] < 1e-4
    np.testing.assert_allclose(pulled.T @ pulled, np.eye(6), atol=1e-10)
    # a dictionary that says nothing moves nothing
    np.testing.assert_allclose(orthogonal_map(torch.diag(torch.tensor([1.0, 0, 0])), 0.1), np.eye(3), atol=1e-12)


def test_whitening_whitens_and_round_trips():
    x, _ = _pairs()
    white, colour = whitening(torch.from_numpy(x), ridge=0.0)
    np.testing.assert_allclose((x @ white.numpy()).T @ (x @ white.numpy()), np.eye(5), atol=1e-10)
    np.testing.assert_allclose((white @ colour).numpy(), np.eye(5), atol=1e-10)
    np.testing.assert_allclose(white.numpy(), _inverse_root(x.T @ x), atol=1e-10)


def test_fixed_target_is_the_formula():
    """X A_x U S U^T A_x^-1 U V^T."""
    x, z = _pairs()
    a_x, a_z = _inverse_root(x.T @ x), _inverse_root(z.T @ z)
    u, s, vt = np.linalg.svd((x @ a_x).T @ (z @ a_z))
    expected = a_x @ u @ np.diag(s) @ u.T @ np.linalg.inv(a_x) @ u @ vt
    maps = advanced_maps(torch.from_numpy(x), torch.from_numpy(z), ridge=0.0)
    assert maps.target is None
    np.testing.assert_allclose(maps.source.numpy(), expected, atol=1e-9)


def test_two_sided_with_the_same_weights_has_the_same_cosines():
    x, z = _pairs()
    fixed = advanced_maps(torch.from_numpy(x), torch.from_numpy(z), ridge=0.0)
    both = advanced_maps(torch.from_numpy(x), torch.from_numpy(z), fixed_target=False, ridge=0.0)
    assert both.target is not None
    products = x @ fixed.source.numpy() @ z.T
    np.testing.assert_allclose(x @ both.source.numpy() @ (z @ both.target.numpy()).T, products, atol=1e-9)


@pytest.mark.parametrize("dewhiten", ["source", "target", None])
def test_two_sided_reference_setting_is_the_formula(dewhiten):
    x, z = _pairs()
    a_x, a_z = _inverse_root(x.T @ x), _inverse_root(z.T @ z)
    u, s, vt = np.linalg.svd((x @ a_x).T @ (z @ a_z))
    undo = {
        "source": u.T @ np.linalg.inv(a_x) @ u,
        "target": vt @ np.linalg.inv(a_z) @ vt.T,
        None: np.eye(5),
    }[dewhiten]
    maps = advanced_maps(
        torch.from_numpy(x),
        torch.from_numpy(z),
        source_reweight=0.5,
        target_reweight=0.5,
        source_dewhiten=dewhiten,
        target_dewhiten=dewhiten,
        fixed_target=False,
        ridge=0.0,
    )
    assert maps.target is not None
    # singular vectors are known up to a common sign, so cosine structure is compared
    expected = (x @ a_x @ u * s**0.5 @ undo) @ (z @ a_z @ vt.T * s**0.5 @ undo).T
    np.testing.assert_allclose(x @ maps.source.numpy() @ (z @ maps.target.numpy()).T, expected, atol=1e-8)


def test_without_whitening_and_weights_it_is_the_orthogonal_map():
    x, z = _pairs()
    maps = advanced_maps(torch.from_numpy(x), torch.from_numpy(z), whiten=False, source_reweight=0.0)
    np.testing.assert_allclose(maps.source.numpy(), orthogonal_map(torch.from_numpy(x.T @ z)).numpy(), atol=1e-9)


@given(st.integers(0, 2**31), st.integers(1, 6))
def test_fewer_pairs_than_dimensions_give_finite_maps(seed, count):
    rng = np.random.default_rng(seed)
    x, z = torch.from_numpy(rng.normal(size=(2, count, 8)))
    assert torch.isfinite(advanced_maps(x, z).source).all()


def test_constant_and_zero_pairs_give_finite_maps():
    zero = torch.zeros(4, 3)
    assert torch.isfinite(advanced_maps(zero, zero).source).all()
    assert torch.isfinite(advanced_maps(zero + 1, zero + 2, ridge=0.0).source).all()
